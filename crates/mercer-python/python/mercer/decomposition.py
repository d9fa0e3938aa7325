"""The estimators of ``decomposition``.

Written by ``mercer generate`` from the catalog; changes belong there.
"""

from numpy.random import RandomState

from .base import Honored, Transformer, Unused

__all__ = ["KernelPCA"]


class KernelPCA(Transformer):
    """Kernel principal component analysis: the directions of largest variance in the space of a kernel.

    Parameters
    ----------
    n_components : int >= 1 or None, default=None
        Number of components. ``None`` returns all components with a nonzero variance.
    kernel : str or callable, default="linear"
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
    fit_inverse_transform : bool, default=False
        Fit the inverse transform from components to rows (pre-images), by kernel ridge regression.
    alpha : float >= 0, default=1.0
        Regularization strength of the inverse transform. Larger values make it smoother.
    verbose : bool, default=False
        Whether a fit prints its plan before it begins, the way it takes and the memory it expects,
        and once a second how far it is.
    n_jobs : int or None, default=None
        How many threads a fit takes; numbers below zero count from all cores, which are -1.
        ``None`` takes those of ``mercer.set_threads``. The model has the same bits with any number.
    random_state : int or RandomState or None, default=None
        Makes no difference: nothing is drawn.
    copy_X : bool, default=True
        Makes no difference: rows are never changed.
    kernel_params : dict or None, default=None
        What a kernel that is a Python function is called with beside two rows, by name.
    eigen_solver : {"auto", "dense", "arpack", "randomized"}, default="auto"
        Makes no difference: components are found to rounding, in the way that takes least time.
    tol : float, default=0
        Makes no difference: components are found to rounding, in the way that takes least time.
    max_iter : int or None, default=None
        Makes no difference: components are found to rounding, in the way that takes least time.
    iterated_power : int or {"auto"}, default="auto"
        Makes no difference: components are found to rounding, in the way that takes least time.
    remove_zero_eig : bool, default=False
        Makes no difference: components without variance are removed in any case.

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
    _inputs = ("sparse",)
    _beside = {
        "verbose": Honored(),
        "n_jobs": Honored(),
        "random_state": Unused(int, RandomState, None),
        "copy_X": Unused(bool),
        "kernel_params": Honored(),
        "eigen_solver": Unused("auto", "dense", "arpack", "randomized"),
        "tol": Unused(float),
        "max_iter": Unused(int, None),
        "iterated_power": Unused(int, "auto"),
        "remove_zero_eig": Unused(bool),
    }

    def __init__(
        self,
        n_components=None,
        *,
        kernel="linear",
        degree=3,
        gamma=None,
        coef0=1.0,
        fit_inverse_transform=False,
        alpha=1.0,
        verbose=False,
        n_jobs=None,
        random_state=None,
        copy_X=True,
        kernel_params=None,
        eigen_solver="auto",
        tol=0,
        max_iter=None,
        iterated_power="auto",
        remove_zero_eig=False,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.fit_inverse_transform = fit_inverse_transform
        self.alpha = alpha
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.copy_X = copy_X
        self.kernel_params = kernel_params
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
