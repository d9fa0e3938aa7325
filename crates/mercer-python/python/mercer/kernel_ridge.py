"""The estimators of ``kernel_ridge``.

Written by ``mercer generate`` from the declarations of the estimators; edit those.
"""

from typing import ClassVar

from .base import Honored, Regressor, SupportVectors, sklearn_attributes

__all__ = ["KernelRidge"]


class KernelRidge(SupportVectors, Regressor):
    """Kernel ridge regression: least squares in the space of a kernel, with an L2 penalty.

    Formula::

        min Σᵢ (yᵢ − f(xᵢ))² + α‖f‖²,  f(x) = Σᵢ cᵢ K(xᵢ, x)

    Parameters
    ----------
    alpha : float >= 0, default=1.0
        Regularization strength: the factor of the squared norm of the function. Larger values make
        it smoother.
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
    widths : {"equal", "learned"}, default="equal"
        Widths of the features in the kernel ``rbf``: the same for all (``equal``), or one per
        feature, chosen together with the regularization strength by the gradient of the
        leave-one-out error (``learned``; automatic relevance determination), starting from
        ``gamma`` and ``alpha``. Features that do not help the prediction switch themselves off.
    variance : bool, default=False
        Store the Cholesky factor, which predictive variances and intervals need: one value per pair
        of rows.
    leave_one_out_rows : int >= 0, default=1000
        Maximum number of rows for which the leave-one-out error is computed. It takes as long as
        the factorization in double precision that it needs.
    solver : {"auto", "cholesky", "cg", "approx"}, default="auto"
        Solver of the linear system: a Cholesky factorization of the kernel matrix (``cholesky``),
        preconditioned conjugate gradients without storing the matrix (``cg``), or an expansion over
        a few landmarks (``approx``), for very many rows. ``auto`` chooses the first that fits into
        the memory budget.
    n_landmarks : int in [1, 100000], default=1000
        Number of landmarks of the solver ``approx``. Larger values approximate the exact solution
        more closely.
    tol : float > 0, default=1e-08
        Stop ``cg`` and ``approx`` when the norm of the residual, relative to the targets, is at
        most ``tol``.
    max_iter : int in [1, 1000000000], default=500
        Maximum number of iterations of ``cg`` and ``approx``.
    verbose : bool, default=False
        Print the plan of the fit (its algorithm and the memory it needs) before it starts, and its
        progress once per second.
    kernel_params : dict or None, default=None
        Keyword arguments of a kernel that is a Python function.

    Attributes
    ----------
    X_fit_ : ndarray or sparse matrix of shape (n_rows, n_features)
        Training rows of the kernel expansion.
    dual_coef_ : ndarray of shape (n_rows,) or (n_rows, n_targets)
        Coefficients ``c`` of the kernel expansion.
    leave_one_out_error_ : float or None
        Mean squared leave-one-out error; ``None`` if it was not computed.
    relevance_ : ndarray of shape (n_features,) or empty
        Factor of each feature before the kernel, if the widths were learned; a factor near zero
        switches the feature off.
    scale_ : float
        Scale of the kernel under which the targets are a Gaussian process: ``yᵀ(K + αI)⁻¹y / n``.
    n_iter_ : int
        Number of iterations of the solver; 1 for a factorization.
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
    >>> from mercer.kernel_ridge import KernelRidge
    >>> X = [[1], [2], [3], [4]]
    >>> y = [20, 30, 40, 50]
    >>> model = KernelRidge().fit(X, y)
    >>> print(round(model.predict([[2.5]])[0], 6))
    32.258065
    """

    _id = "kernel-ridge"
    _inputs = ("sparse", "multi-output")
    _extra_parameters: ClassVar = {
        "verbose": Honored(),
        "kernel_params": Honored(),
    }
    _spellings: ClassVar = {
        "kernel": {"polynomial": "poly"},
    }
    _fitted_attributes: ClassVar = {
        "X_fit_": ("expansion", sklearn_attributes.expansion_rows),
        "dual_coef_": (None, sklearn_attributes.dual_coefficients_by_target),
    }
    _kernel_of_two_rows = True

    def __init__(
        self,
        alpha=1.0,
        *,
        kernel="linear",
        degree=3,
        gamma=None,
        coef0=1.0,
        widths="equal",
        variance=False,
        leave_one_out_rows=1000,
        solver="auto",
        n_landmarks=1000,
        tol=1e-08,
        max_iter=500,
        verbose=False,
        kernel_params=None,
    ):
        self.alpha = alpha
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.widths = widths
        self.variance = variance
        self.leave_one_out_rows = leave_one_out_rows
        self.solver = solver
        self.n_landmarks = n_landmarks
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.kernel_params = kernel_params
