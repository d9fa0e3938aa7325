"""The estimators of ``cluster``.

Written by ``mercer generate`` from the catalog; changes belong there.
"""

from .base import Clusterer

__all__ = ["KernelKMeans"]


class KernelKMeans(Clusterer):
    """Kernel k-means: clusters of arbitrary shape, around means in the space of a kernel.

    Parameters
    ----------
    n_clusters : int in [1, 1000000], default=8
        Number of clusters. With fewer distinct rows than this, each of them is a cluster.
    kernel : str or callable, default="rbf"
        Kernel function: ``linear``, ``poly``, ``rbf``, ``sigmoid``, ``laplacian``, ``chi2``; sums
        and products of kernels such as ``rbf(gamma=0.1)+2*linear``; or ``precomputed``, if the rows
        are rows of a kernel matrix.
    degree : int in [0, 1000], default=3
        Degree of the kernel ``poly``. Other kernels ignore it.
    gamma : float >= 0, "scale", "auto" or None, default=None
        Coefficient of the kernels ``rbf``, ``poly``, ``sigmoid``, ``laplacian`` and ``chi2``: a
        number, ``scale`` for ``1 / (n_features * variance of X)``, or ``auto`` for ``1 /
        n_features``. Larger values make the kernel narrower and the fitted function more flexible.
        ``None`` is ``auto``, and 1 for ``chi2``.
    coef0 : float, default=1.0
        Constant term of the kernels ``poly`` and ``sigmoid``. Other kernels ignore it.
    n_init : int in [1, 1000000], default=4
        Number of runs from different k-means++ seedings; the run with the smallest inertia is
        returned.
    max_iter : int in [1, 1000000000], default=300
        Maximum number of iterations of each run.
    tol : float >= 0, default=1e-06
        Stop a run when the relative decrease of the inertia in one iteration is at most ``tol``.
    random_state : int, default=0
        Seed of the random number generator. The same seed gives the same model, on any number of
        threads.

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
        degree=3,
        gamma=None,
        coef0=1.0,
        n_init=4,
        max_iter=300,
        tol=1e-06,
        random_state=0,
    ):
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
