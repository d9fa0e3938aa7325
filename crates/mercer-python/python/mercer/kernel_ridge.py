"""The estimators of ``kernel_ridge``.

Written by ``mercer generate`` from the catalog; changes belong there.
"""

from .base import Honored, Regressor, SupportVectors

__all__ = ["KernelRidge"]


class KernelRidge(SupportVectors, Regressor):
    """Kernel ridge regression: least squares in a kernel's space, with a price on size.

    Parameters
    ----------
    alpha : float, default=1.0
        The price on the squared size of the function. Larger values make it smoother.
        It must be a number of at least 0.
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
    variance : bool, default=False
        Whether to keep what variances and intervals need: as many numbers as there are pairs of
        rows.
    leave_one_out_rows : int, default=5000
        Rows up to which the error on rows left out is worked out. Doing so takes as long again as
        the factor in double precision that it needs.
        It must be a number of at least 0.
    solver : {"auto", "cholesky", "cg", "approx"}, default="auto"
        How the equations are solved: by a factor of the kernel matrix (``cholesky``), without the
        matrix by conjugate gradients (``cg``), or through a few rows that stand for all
        (``approx``), for very many rows. ``auto`` takes the first that fits.
    n_centers : int, default=1000
        How many rows stand for all in ``approx``. More are closer to the function of all.
        It must be a number from 1 to 100000.
    tol : float, default=1e-08
        The norm of the residual, relative to the targets, at which ``cg`` and ``approx`` end.
        It must be a number above 0.
    max_iter : int, default=500
        Rounds of ``cg`` and ``approx`` at most.
        It must be a number from 1 to 1000000000.
    verbose : bool, default=False
        Whether a fit prints its plan before it begins, the way it takes and the memory it expects,
        and once a second how far it is.
    kernel_params : dict or None, default=None
        What a kernel that is a Python function is called with beside two rows, by name.

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

    Examples
    --------
    >>> from mercer.kernel_ridge import KernelRidge
    >>> X = [[1], [2], [3], [4]]
    >>> y = [20, 30, 40, 50]
    >>> model = KernelRidge().fit(X, y)
    >>> print(round(model.predict([[2.5]])[0], 6))
    32.258065
    """

    _id = "kernel-ridge"
    _inputs = ("sparse", "targets", "asked_texts")
    _beside = {
        "verbose": Honored(),
        "kernel_params": Honored(),
    }

    def __init__(
        self,
        alpha=1.0,
        *,
        kernel="linear",
        gamma=None,
        degree=3,
        coef0=1.0,
        variance=False,
        leave_one_out_rows=5000,
        solver="auto",
        n_centers=1000,
        tol=1e-08,
        max_iter=500,
        verbose=False,
        kernel_params=None,
    ):
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.variance = variance
        self.leave_one_out_rows = leave_one_out_rows
        self.solver = solver
        self.n_centers = n_centers
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.kernel_params = kernel_params
