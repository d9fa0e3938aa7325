"""The estimators of ``decomposition``.

Written by ``mercer generate`` from the declarations of the estimators; edit those.
"""

from typing import ClassVar

from numpy.random import RandomState

from .base import Honored, Transformer, Unused, sklearn_attributes

__all__ = ["KernelPCA"]


class KernelPCA(Transformer):
    """Kernel principal component analysis: the directions of largest variance in the space of a
    kernel.

    Formula::

        K̃ uₖ = λₖ uₖ,  zₖ(x) = Σᵢ uₖᵢ K̃(xᵢ, x) / √λₖ,  K̃ the centered kernel

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
        Independent term of the kernels ``poly`` and ``sigmoid``. Other kernels ignore it.
    fit_inverse_transform : bool, default=False
        Fit the inverse transform from components to rows (pre-images), by kernel ridge regression.
    alpha : float >= 0, default=1.0
        Regularization strength of the inverse transform. Larger values make it smoother.
    verbose : bool, default=False
        Print the plan of the fit (its algorithm and the memory it needs) before it starts, and its
        progress once per second.
    n_jobs : int or None, default=None
        Number of threads of the fit; -1 uses all cores, -2 all but one. ``None`` uses the number
        set by ``mercer.set_threads``. The model is bit-identical for any number of threads.
    random_state : int or RandomState or None, default=None
        Accepted without effect: the algorithm is deterministic.
    copy_X : bool, default=True
        Accepted without effect: the training rows are never modified.
    kernel_params : dict or None, default=None
        Keyword arguments of a kernel that is a Python function.
    eigen_solver : {"auto", "dense", "arpack", "randomized"}, default="auto"
        Accepted without effect: eigenvectors are computed to rounding by the fastest suitable
        method.
    tol : float, default=0
        Accepted without effect: eigenvectors are computed to rounding by the fastest suitable
        method.
    max_iter : int or None, default=None
        Accepted without effect: eigenvectors are computed to rounding by the fastest suitable
        method.
    iterated_power : int or {"auto"}, default="auto"
        Accepted without effect: eigenvectors are computed to rounding by the fastest suitable
        method.
    remove_zero_eig : bool, default=False
        Accepted without effect: components with zero eigenvalue are always removed.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues ``λ`` of the centered kernel matrix, in decreasing order.
    eigenvectors_ : ndarray of shape (n_rows, n_components)
        Eigenvectors ``u`` of the centered kernel matrix.
    gamma_ : float
        The ``gamma`` of the kernel.
    X_fit_ : ndarray or sparse matrix of shape (n_rows, n_features)
        Training rows of the kernel expansion.
    n_features_in_ : int
        Number of features of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if the training rows had names.
    certificate_ : dict
        How the fit ended: status, objective, duality gap, iterations, and a ``text`` that states
        them.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore; ``dir(model)``
    lists them.

    Examples
    --------
    >>> from mercer.decomposition import KernelPCA
    >>> X = [[0, 1], [1, 0], [4, 5], [5, 4]]
    >>> print(KernelPCA().fit_transform(X).shape[0])
    4
    """

    _id = "kernel-pca"
    _inputs = ("sparse",)
    _extra_parameters: ClassVar = {
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
    _spellings: ClassVar = {
        "kernel": {"polynomial": "poly"},
    }
    _fitted_attributes: ClassVar = {
        "eigenvectors_": (None, sklearn_attributes.kernel_eigenvectors),
        "gamma_": ("function", sklearn_attributes.kernel_gamma),
        "X_fit_": ("expansion", sklearn_attributes.expansion_rows),
    }
    _kernel_of_two_rows = True

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


from .kernel_pca import KernelPCA  # noqa: E402, F811
