"""Regularization paths of the lasso and the elastic net, and their strength chosen by cross-validation."""

import json
import warnings
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.validation import _check_sample_weight, check_array, column_or_1d

from . import _mercer, rows
from .base.inputs import check_lengths
from .base.regressor import Regressor
from .elastic_net import ElasticNet, Lasso
from .limits import current_limits

__all__ = [
    "ElasticNetCV",
    "LassoCV",
    "MultiTaskElasticNet",
    "MultiTaskElasticNetCV",
    "MultiTaskLasso",
    "MultiTaskLassoCV",
    "enet_path",
    "lasso_path",
]

#: The number of strengths of a path that scikit-learn's functions compute by default.
N_ALPHAS = 100


def enet_path(
    X: Any,
    y: Any,
    *,
    l1_ratio: float = 0.5,
    eps: float = 1e-3,
    n_alphas: Any = "deprecated",
    alphas: Any = N_ALPHAS,
    precompute: Any = "auto",
    Xy: Any = None,
    copy_X: bool = True,
    coef_init: Any = None,
    verbose: Any = False,
    return_n_iter: bool = False,
    positive: bool = False,
    check_input: bool = True,
    **params: Any,
) -> Any:
    """The elastic nets of a sequence of regularization strengths, without an intercept.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        Training rows.
    y : array of shape (n_samples,) or (n_samples, n_targets)
        Regression targets; several targets share their features (multi-task elastic net).
    l1_ratio : float in [0, 1], default=0.5
        Fraction of the L1 penalty.
    eps : float, default=1e-3
        The smallest strength of the path as a fraction of the largest.
    n_alphas : int
        Number of strengths, under its former name.
    alphas : int or array, default=100
        The strengths, or their number.
    precompute, Xy, copy_X, coef_init, verbose, check_input
        Accepted for scikit-learn's signature; the path does not depend on them.
    return_n_iter : bool, default=False
        Also return the number of passes of each fit.
    positive : bool, default=False
        Constrain the coefficients to be nonnegative.
    **params
        ``tol``, ``max_iter`` and ``sample_weight``.

    Returns
    -------
    alphas : ndarray of shape (n_alphas,)
        The strengths, in descending order.
    coefs : ndarray of shape (n_features, n_alphas) or (n_targets, n_features, n_alphas)
        Coefficients along the path.
    dual_gaps : ndarray of shape (n_alphas,)
        Duality gap of each fit.

    Examples
    --------
    >>> from mercer.linear_model import enet_path
    >>> alphas, coefs, gaps = enet_path([[1.0], [2.0]], [1.0, 2.0], alphas=[0.5, 0.1])
    >>> coefs.shape
    (1, 2)
    """
    known = {"tol", "max_iter", "sample_weight", "random_state", "selection", "fit_intercept"}
    unexpected = sorted(set(params) - known)
    if unexpected:
        raise ValueError(f"Unexpected parameters in params {dict.fromkeys(unexpected)!r}")
    X, y = _checked(X, y, multi_output=True)
    if positive and y.ndim == 2 and y.shape[1] > 1:
        raise ValueError("positive=True is not allowed for multi-output (y.ndim != 1)")
    weights = params.get("sample_weight")
    strengths = _strengths(
        alphas if n_alphas == "deprecated" else n_alphas,
        X,
        y,
        l1_ratio=l1_ratio,
        eps=eps,
        centered=False,
        sample_weight=weights,
        positive=positive,
    )
    path = _Path(X, y, weights, fit_intercept=False, joint=y.ndim == 2)
    settings = {"l1_ratio": l1_ratio, "positive": positive}
    settings |= {name: params[name] for name in ("tol", "max_iter") if name in params}
    path.fit(strengths, settings)
    coefs = path.coefs.transpose(1, 2, 0) if y.ndim == 2 else path.coefs[:, 0].T
    n_iters = path.n_iters[:, 0].tolist()
    result = (strengths, coefs, path.gaps[:, 0])
    return (*result, n_iters) if return_n_iter else result


def lasso_path(
    X: Any,
    y: Any,
    *,
    eps: float = 1e-3,
    n_alphas: Any = "deprecated",
    alphas: Any = N_ALPHAS,
    precompute: Any = "auto",
    Xy: Any = None,
    copy_X: bool = True,
    coef_init: Any = None,
    verbose: Any = False,
    return_n_iter: bool = False,
    positive: bool = False,
    **params: Any,
) -> Any:
    """The lassos of a sequence of regularization strengths: :func:`enet_path` with ``l1_ratio=1``."""
    return enet_path(
        X,
        y,
        l1_ratio=1.0,
        eps=eps,
        n_alphas=n_alphas,
        alphas=alphas,
        return_n_iter=return_n_iter,
        positive=positive,
        **params,
    )


def _routed(estimator: Any, params: dict[str, Any]) -> Any:
    """The metadata of ``fit`` by receiver; without routing there may be none."""
    if _routing_enabled():
        return process_routing(estimator, "fit", **params)
    if params:
        raise ValueError(
            f"[{', '.join(params)}] are passed but passing extra metadata to fit is only supported if "
            "enable_metadata_routing=True"
        )
    return {}


def _checked(X: Any, y: Any, *, multi_output: bool) -> tuple[Any, np.ndarray]:
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X")
    y = check_array(y, dtype=np.float64, ensure_2d=False, order="C", input_name="y")
    if y.ndim == 2 and not multi_output:
        y = column_or_1d(y, warn=True)
    check_lengths(X if sp.issparse(X) is False else rows.matrix(X), y)
    return X, y


class _Path:
    """A problem whose elastic nets are fitted for several strengths, one from the other."""

    def __init__(
        self, X: Any, y: np.ndarray, sample_weight: Any, *, fit_intercept: bool, joint: bool
    ) -> None:
        self.matrix = rows.matrix(X)
        self.target = np.ascontiguousarray(y, dtype=np.float64)
        self.weights = sample_weight
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
            self.weights = np.ascontiguousarray(weights)
        self.fixed = {"fit_intercept": bool(fit_intercept), "joint": joint}

    def fit(self, alphas: np.ndarray, settings: dict[str, Any]) -> Self:
        params = json.dumps(
            self.fixed
            | {k: v.item() if isinstance(v, np.generic) else v for k, v in settings.items()}
        )
        self.coefs, self.intercepts, self.gaps, self.n_iters, converged = _mercer.elastic_net_path(
            params,
            [float(a) for a in alphas],
            self.matrix,
            self.target,
            self.weights,
            current_limits(),
        )
        if not converged.all():
            worst = float(alphas[int(np.argmin(converged))])
            warnings.warn(
                "Objective did not converge. You might want to increase the number of iterations, check "
                f"the scale of the features or consider increasing regularisation (alpha={worst:.3e}).",
                ConvergenceWarning,
                stacklevel=4,
            )
        return self


def _strengths(
    alphas: Any,
    X: Any,
    y: np.ndarray,
    *,
    l1_ratio: float,
    eps: float,
    centered: bool,
    sample_weight: Any,
    positive: bool,
) -> np.ndarray:
    """The given strengths in descending order, or a geometric sequence below the smallest strength without
    any nonzero coefficient."""
    if alphas is None:
        alphas = N_ALPHAS
    if not isinstance(alphas, Integral):
        for index, alpha in enumerate(alphas):
            if not isinstance(alpha, Real):
                kind = type(alpha).__name__
                raise TypeError(f"alphas[{index}] must be an instance of float, not {kind}")
            if alpha < 0:
                raise ValueError(f"alphas[{index}] == {alpha}, must be >= 0.0.")
        return np.sort(np.asarray(alphas, dtype=np.float64))[::-1]
    if l1_ratio == 0:
        raise ValueError(
            "Automatic alpha grid generation is not supported for l1_ratio=0. Please supply a grid by "
            "providing your estimator with the appropriate `alphas=` argument."
        )
    weights = np.ones(X.shape[0]) if sample_weight is None else np.asarray(sample_weight, float)
    if weights.ndim == 0:
        weights = np.full(X.shape[0], float(weights))
    targets = y.reshape(len(y), -1)
    total = weights.sum()
    if centered:
        targets = targets - weights @ targets / total
    # Centered targets make the means of the columns irrelevant.
    products = X.T @ (weights[:, None] * targets)
    products = np.asarray(products.todense() if sp.issparse(products) else products)
    sizes = products if positive else np.sqrt((products**2).sum(axis=1))
    largest = sizes.max(initial=0.0) / (total * l1_ratio)
    if largest <= np.finfo(np.float64).resolution:
        return np.full(int(alphas), np.finfo(np.float64).resolution)
    return np.geomspace(largest, largest * eps, num=int(alphas))


class _CrossValidated(Regressor):
    """Chooses ``alpha`` and ``l1_ratio`` by the mean squared error over the folds."""

    _inputs = ("sparse", "multi-output")
    #: Whether all targets share their features.
    _joint = False
    alphas_: np.ndarray
    mse_path_: np.ndarray

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._joint
        return tags

    def get_metadata_routing(self) -> Any:
        """The routing of metadata to the splitter."""
        router = MetadataRouter(owner=self).add_self_request(self)
        mapping = MethodMapping().add(caller="fit", callee="split")
        return router.add(splitter=check_cv(self.cv), method_mapping=mapping)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            Training rows.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Regression targets.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights, of the fits and of the errors.
        **params : dict
            Metadata for the splitter.
        """
        _raise_for_params(params, self, "fit")
        X_checked = self._sklearn_rows(X, reset=True)
        y = self._checked_target(y, X_checked)
        weights = sample_weight
        if weights is not None:
            weights = _check_sample_weight(sample_weight, X_checked, dtype=np.float64)
        ratios = np.atleast_1d(getattr(self, "l1_ratio", 1.0)).astype(float)
        alphas = [self._strengths(X_checked, y, weights, ratio) for ratio in ratios]
        split_params = _routed(self, params).get("splitter", {}).get("split", {})
        folds = list(check_cv(self.cv).split(X_checked, y, **split_params))
        errors = self._errors(X_checked, y, weights, folds, ratios, alphas)
        # Averaged over the folds, by the weight of their rows.
        sizes = [len(test) if weights is None else weights[test].sum() for _, test in folds]
        means = np.average(errors, axis=-1, weights=sizes)
        best_ratio, best = np.unravel_index(int(np.argmin(means)), means.shape)
        self.alpha_ = float(alphas[best_ratio][best])
        self.l1_ratio_ = float(ratios[best_ratio])
        single = np.ndim(getattr(self, "l1_ratio", 1.0)) == 0
        self.alphas_ = alphas[0] if single else np.asarray(alphas)
        self.mse_path_ = errors[0] if single else errors
        if not isinstance(self.alphas, Integral) and self.alphas is not None:
            self.alphas_ = np.asarray(alphas[0])
        return self._refit(X, y, sample_weight)

    def _sklearn_rows(self, X: Any, *, reset: bool) -> Any:
        self._rows(X, reset=reset)
        return check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])

    def _checked_target(self, y: Any, X: Any) -> np.ndarray:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        name = type(self).__name__
        y = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
        if self._joint and y.ndim == 1:
            raise ValueError(f"For mono-task outputs, use {name.removeprefix('MultiTask')}")
        if not self._joint and y.ndim == 2 and y.shape[1] > 1:
            raise ValueError(f"For multi-task outputs, use MultiTask{name}")
        if not self._joint:
            y = column_or_1d(y, warn=True)
        if X.shape[0] != y.shape[0]:
            raise ValueError(
                "Found input variables with inconsistent numbers of samples: "
                f"{[X.shape[0], y.shape[0]]}"
            )
        return np.ascontiguousarray(y)

    def _strengths(self, X: Any, y: np.ndarray, weights: Any, ratio: float) -> np.ndarray:
        return _strengths(
            self.alphas,
            X,
            y,
            l1_ratio=ratio,
            eps=self.eps,
            centered=self.fit_intercept,
            sample_weight=weights,
            positive=getattr(self, "positive", False),
        )

    def _settings(self, ratio: float) -> dict[str, Any]:
        return {
            "l1_ratio": float(ratio),
            "tol": self.tol,
            "max_iter": self.max_iter,
            "positive": bool(getattr(self, "positive", False)),
        }

    def _errors(
        self, X: Any, y: np.ndarray, weights: Any, folds: Any, ratios: Any, alphas: Any
    ) -> np.ndarray:
        """The mean squared error by ratio, strength and fold."""
        errors = np.empty((len(ratios), len(alphas[0]), len(folds)))
        for f, (train, test) in enumerate(folds):
            train_weights = None if weights is None else weights[train]
            path = _Path(
                X[train],
                y[train],
                train_weights,
                fit_intercept=self.fit_intercept,
                joint=self._joint,
            )
            test_weights = None if weights is None else weights[test]
            targets = y[test].reshape(len(test), -1)
            for r, ratio in enumerate(ratios):
                path.fit(alphas[r], self._settings(ratio))
                for a in range(len(alphas[r])):
                    predicted = X[test] @ path.coefs[a].T + path.intercepts[a]
                    squares = ((targets - predicted) ** 2).mean(axis=1)
                    errors[r, a, f] = np.average(squares, weights=test_weights)
        return errors

    def _refit(self, X: Any, y: np.ndarray, sample_weight: Any) -> Self:
        """Fits all rows with the chosen strength."""
        model = self._final_model()
        for name in ("fit_intercept", "max_iter", "tol", "positive", "selection", "random_state"):
            if hasattr(self, name) and hasattr(model, name):
                setattr(model, name, getattr(self, name))
        model.fit(X, y, sample_weight) if sample_weight is not None else model.fit(X, y)
        self._fitted, self._multi_output = model._fitted, model._multi_output
        return self

    def _final_model(self) -> Any:
        raise NotImplementedError

    @property
    def coef_(self) -> np.ndarray:
        """Coefficients of the chosen strength."""
        return self._of_model("coef_")

    @property
    def intercept_(self) -> Any:
        """Intercept of the chosen strength."""
        return self._of_model("intercept_")

    @property
    def n_iter_(self) -> int:
        """Number of passes of the final fit."""
        return self._of_model("n_iter_")

    @property
    def dual_gap_(self) -> float:
        """Duality gap of the final fit."""
        return self._of_model("dual_gap_")

    def _of_model(self, name: str) -> Any:
        if "_fitted" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        model = (MultiTaskElasticNet if self._joint else ElasticNet)()
        model._fitted, model._multi_output = self._fitted, self._multi_output
        return getattr(model, name)


_CV_PARAMETERS = """eps : float, default=1e-3
        The smallest strength as a fraction of the largest, if ``alphas`` is a number.
    alphas : int or array, default=100
        Candidate strengths, or their number.
    fit_intercept : bool, default=True
        Fit an intercept.
    max_iter : int, default=1000
        Maximum number of passes over the columns.
    tol : float, default=1e-4
        Stop when the duality gap is at most ``tol`` times the sum of squares of the centered target.
    cv : int, splitter, iterable or None, default=None
        Cross-validation scheme; ``None`` is 5 folds.
    copy_X, verbose, n_jobs, random_state, selection
        Accepted without effect."""
_CV_ATTRIBUTES = """alpha_ : float
        Chosen strength.
    alphas_ : ndarray of shape (n_alphas,)
        Candidate strengths.
    mse_path_ : ndarray of shape (n_alphas, n_folds)
        Mean squared error of every candidate on every fold.
    coef_, intercept_, n_iter_, dual_gap_
        As those of the estimator without cross-validation."""


def _documented(cls: type) -> type:
    cls.__doc__ = (cls.__doc__ or "").replace("{parameters}", _CV_PARAMETERS)
    cls.__doc__ = cls.__doc__.replace("{attributes}", _CV_ATTRIBUTES)
    return cls


@_documented
class LassoCV(_CrossValidated):
    """Lasso with the regularization strength chosen by cross-validation.

    Parameters
    ----------
    precompute : object, default="auto"
        Accepted without effect: the columns are visited directly.
    positive : bool, default=False
        Constrain the coefficients to be nonnegative.
    {parameters}

    Attributes
    ----------
    {attributes}
    """

    __module__ = "mercer.linear_model"
    _id = "lasso"

    def __init__(
        self,
        *,
        eps=1e-3,
        alphas=N_ALPHAS,
        fit_intercept=True,
        precompute="auto",
        max_iter=1000,
        tol=1e-4,
        copy_X=True,
        cv=None,
        verbose=False,
        n_jobs=None,
        positive=False,
        random_state=None,
        selection="cyclic",
    ):
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.copy_X = copy_X
        self.cv = cv
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    def _final_model(self) -> Any:
        return Lasso(alpha=self.alpha_)


@_documented
class ElasticNetCV(_CrossValidated):
    """Elastic net with ``alpha`` and ``l1_ratio`` chosen by cross-validation.

    Parameters
    ----------
    l1_ratio : float or list of float, default=0.5
        Fraction of the L1 penalty, or candidates for it.
    precompute : object, default="auto"
        Accepted without effect: the columns are visited directly.
    positive : bool, default=False
        Constrain the coefficients to be nonnegative.
    {parameters}

    Attributes
    ----------
    l1_ratio_ : float
        Chosen fraction of the L1 penalty.
    {attributes}
    """

    __module__ = "mercer.linear_model"
    _id = "elastic-net"

    def __init__(
        self,
        *,
        l1_ratio=0.5,
        eps=1e-3,
        alphas=N_ALPHAS,
        fit_intercept=True,
        precompute="auto",
        max_iter=1000,
        tol=1e-4,
        cv=None,
        copy_X=True,
        verbose=0,
        n_jobs=None,
        positive=False,
        random_state=None,
        selection="cyclic",
    ):
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    def _final_model(self) -> Any:
        return ElasticNet(alpha=self.alpha_, l1_ratio=self.l1_ratio_)


@_documented
class MultiTaskLassoCV(_CrossValidated):
    """Multi-task lasso with the regularization strength chosen by cross-validation.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}
    """

    __module__ = "mercer.linear_model"
    _id = "lasso"
    _joint = True

    def __init__(
        self,
        *,
        eps=1e-3,
        alphas=N_ALPHAS,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-4,
        copy_X=True,
        cv=None,
        verbose=False,
        n_jobs=None,
        random_state=None,
        selection="cyclic",
    ):
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.copy_X = copy_X
        self.cv = cv
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.selection = selection

    def _final_model(self) -> Any:
        return MultiTaskLasso(alpha=self.alpha_)


@_documented
class MultiTaskElasticNetCV(_CrossValidated):
    """Multi-task elastic net with ``alpha`` and ``l1_ratio`` chosen by cross-validation.

    Parameters
    ----------
    l1_ratio : float or list of float, default=0.5
        Fraction of the L1 penalty, or candidates for it.
    {parameters}

    Attributes
    ----------
    l1_ratio_ : float
        Chosen fraction of the L1 penalty.
    {attributes}
    """

    __module__ = "mercer.linear_model"
    _id = "elastic-net"
    _joint = True

    def __init__(
        self,
        *,
        l1_ratio=0.5,
        eps=1e-3,
        alphas=N_ALPHAS,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-4,
        cv=None,
        copy_X=True,
        verbose=0,
        n_jobs=None,
        random_state=None,
        selection="cyclic",
    ):
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.selection = selection

    def _final_model(self) -> Any:
        return MultiTaskElasticNet(alpha=self.alpha_, l1_ratio=self.l1_ratio_)


class _MultiTask:
    """Selects the same features for all targets."""

    def _core_parameters(self) -> dict[str, Any]:
        return super()._core_parameters() | {"joint": True}  # type: ignore[misc]

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Self:
        """Fits the model to rows ``X`` and targets ``y`` of shape (n_samples, n_targets)."""
        if y is not None and np.ndim(y) == 1:
            name = type(self).__name__.removeprefix("MultiTask")
            raise ValueError(f"For mono-task outputs, use {name}")
        return super().fit(X, y, sample_weight)  # type: ignore[misc]

    @property
    def n_iter_(self) -> int:
        """Number of passes over the columns."""
        return int(self._fitted.field("n_iters")[0])  # type: ignore[attr-defined]

    @property
    def dual_gap_(self) -> float:
        """Duality gap at the end of the fit."""
        return float(self._fitted.field("dual_gaps")[0])  # type: ignore[attr-defined]


class MultiTaskLasso(_MultiTask, Lasso):
    """Lasso that selects the same features for all targets.

    Formula::

        min 1/(2n) ‖Y − XW − b‖² + α Σⱼ ‖wⱼ‖,  wⱼ the weights of feature j for all targets

    Parameters
    ----------
    alpha : float >= 0, default=1.0
        Regularization strength. Larger values set the weights of more features to zero.
    fit_intercept, max_iter, tol, warm_start, copy_X, random_state, selection
        As those of :class:`Lasso`.
    """

    __module__ = "mercer.linear_model"

    def __init__(
        self,
        alpha=1.0,
        *,
        fit_intercept=True,
        copy_X=True,
        max_iter=1000,
        tol=1e-4,
        warm_start=False,
        random_state=None,
        selection="cyclic",
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.selection = selection


class MultiTaskElasticNet(_MultiTask, ElasticNet):
    """Elastic net that selects the same features for all targets.

    Formula::

        min 1/(2n) ‖Y − XW − b‖² + α (ρ Σⱼ ‖wⱼ‖ + ½ (1 − ρ) ‖W‖²)

    Parameters
    ----------
    alpha : float >= 0, default=1.0
        Regularization strength.
    l1_ratio : float in [0, 1], default=0.5
        Fraction of the L1 penalty.
    fit_intercept, max_iter, tol, warm_start, copy_X, random_state, selection
        As those of :class:`ElasticNet`.
    """

    __module__ = "mercer.linear_model"

    def __init__(
        self,
        alpha=1.0,
        *,
        l1_ratio=0.5,
        fit_intercept=True,
        copy_X=True,
        max_iter=1000,
        tol=1e-4,
        warm_start=False,
        random_state=None,
        selection="cyclic",
    ):
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.selection = selection
