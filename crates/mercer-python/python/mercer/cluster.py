"""The estimators of ``cluster``.

Written by ``mercer generate`` from the catalog; changes belong there.
"""

from .base import Clusterer

__all__ = ["KernelKMeans"]


class KernelKMeans(Clusterer):
    """K-means in the space of a kernel: groups of rows of any shape that the kernel sees.

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters. Of fewer rows that differ, as many as there are.
        It must be a number from 1 to 1000000.
    kernel : str or callable, default="rbf"
        The kernel: ``linear``, ``poly``, ``rbf``, ``sigmoid``, ``laplacian``, ``chi2``, sums and
        products of these as in ``rbf(gamma=0.1)+2*linear``, or ``precomputed`` where the rows are
        kernel values.
    gamma : number, "scale", "auto", or None, default=None
        How fast a kernel falls with distance: a number, ``scale`` for ``1 / (columns · variance)``,
        or ``auto`` for ``1 / columns``. Nothing is ``auto``, and 1 for ``chi2``.
        It must be a number of at least 0.
    degree : int, default=3
        The power of the kernel ``poly``.
        It must be a number from 0 to 1000.
    coef0 : float, default=1.0
        The constant in the kernels ``poly`` and ``sigmoid``.
    n_init : int, default=4
        How often to start from other rows; the best end is kept.
        It must be a number from 1 to 1000000.
    max_iter : int, default=300
        Rounds at most, for every start.
        It must be a number from 1 to 1000000000.
    tol : float, default=1e-06
        The decrease of the sum, relative to it, below which rounds end.
        It must be a number of at least 0.
    random_state : int, default=0
        The seed of what is drawn.

    Attributes
    ----------
    n_features_in_ : int
        How many columns a row has.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the rows came with names.
    certificate_ : dict
        How the fit ended and how far from the best it can be.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore, and
    scikit-learn's names for them work too; ``dir(model)`` lists both.
    """

    _id = "kernel-k-means"
    _inputs = ("sparse",)

    def __init__(
        self,
        *,
        n_clusters=8,
        kernel="rbf",
        gamma=None,
        degree=3,
        coef0=1.0,
        n_init=4,
        max_iter=300,
        tol=1e-06,
        random_state=0,
    ):
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
