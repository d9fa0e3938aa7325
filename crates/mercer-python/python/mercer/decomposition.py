"""The estimators of ``decomposition``.

Written by ``mercer generate`` from the catalog; changes belong there.
"""

from .base import Transformer

__all__ = ["KernelPCA"]


class KernelPCA(Transformer):
    """Principal components in the space of a kernel: the directions that rows differ most along.

    Parameters
    ----------
    n_components : int or None, default=None
        How many components. Nothing keeps all that have any variance.
        It must be a number of at least 1.
    kernel : str or callable, default="linear"
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
    fit_inverse_transform : bool, default=False
        Whether to learn the way back from components to rows too, by kernel ridge regression.
    alpha : float, default=1.0
        The price on size in learning the way back. Larger values make it smoother.
        It must be a number of at least 0.
    verbose : bool, default=False
        Whether a fit prints its plan before it begins, the way it takes and the memory it expects,
        and once a second how far it is.

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

    _id = "kernel-pca"
    _takes = ("sparse",)

    def __init__(
        self,
        *,
        n_components=None,
        kernel="linear",
        gamma=None,
        degree=3,
        coef0=1.0,
        fit_inverse_transform=False,
        alpha=1.0,
        verbose=False,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_inverse_transform = fit_inverse_transform
        self.alpha = alpha
        self.verbose = verbose
