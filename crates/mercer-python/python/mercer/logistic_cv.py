"""Logistic regression with its regularization strength chosen by any splitter and scorer."""

import inspect
from numbers import Integral, Number
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.metrics import get_scorer, make_scorer
from sklearn.model_selection import check_cv
from sklearn.utils import compute_class_weight
from sklearn.utils.metadata_routing import (
    UNUSED,
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.validation import _check_method_params, check_array

from . import _mercer, labels
from .base import Honored
from .base.inputs import checked_weights
from .linear_model import LogisticRegressionCV as CoreLogisticRegressionCV
from .logistic import LogisticRegression, check_solver

__all__ = ["LogisticRegressionCV"]

#: The metrics of a fold that the core computes.
CORE_SCORINGS = ("accuracy", "neg_log_loss")
#: The log odds of a class without training rows against the least likely of the others.
ABSENT_LOG_ODDS = -36.0


class LogisticRegressionCV(CoreLogisticRegressionCV):
    __doc__ = CoreLogisticRegressionCV.__doc__
    __module__ = "mercer.linear_model"
    _extra_parameters: ClassVar = CoreLogisticRegressionCV._extra_parameters | {
        "use_legacy_attributes": Honored(),
    }
    # The scorer, and not this estimator, decides whether it needs weights.
    __metadata_request__score: ClassVar = {"sample_weight": UNUSED}
    #: The attributes that the fit in Python sets.
    _own_attributes = (
        "C_", "l1_ratio_", "Cs_", "l1_ratios_", "scores_", "n_iter_", "coefs_paths_",
        "coef_", "intercept_",
    )  # fmt: skip

    def get_metadata_routing(self) -> Any:
        """The routing of metadata to the scorer and the splitter."""
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(
            splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split")
        )
        mapping = MethodMapping().add(caller="score", callee="score")
        mapping.add(caller="fit", callee="score")
        router.add(scorer=self._get_scorer(), method_mapping=mapping)
        return router

    def _get_scorer(self) -> Any:
        scoring = "accuracy" if self.scoring in ("warn", "deprecated", None) else self.scoring
        return get_scorer(scoring)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            Training rows.
        y : array of shape (n_samples,)
            Class labels: booleans, integers, floats or strings.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights.
        **params : dict
            Metadata for the scorer and the splitter.
        """
        _raise_for_params(params, self, "fit")
        check_solver(self)
        for name in self._own_attributes:
            self.__dict__.pop(name, None)
        if self.penalty == "elasticnet" and not isinstance(self.l1_ratios, str):
            self._check_ratios()
        plain_cv = self.cv is None or isinstance(self.cv, Integral)
        plain_scoring = self.scoring in ("warn", "deprecated", None) or (
            isinstance(self.scoring, str) and self.scoring in CORE_SCORINGS
        )
        plain_solver = self.solver != "liblinear" or not self.fit_intercept
        in_core = plain_cv and plain_scoring and plain_solver and not params
        if in_core and self.use_legacy_attributes is not True:
            return super().fit(X, y, sample_weight)
        return self._fit_folds(X, y, sample_weight, params)

    def score(self, X: Any, y: Any, sample_weight: Any = None, **score_params: Any) -> float:
        """The score of the predictions for ``X`` by the metric ``scoring``.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            Rows.
        y : array of shape (n_samples,)
            Class labels.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights, for the scorer.
        **score_params : dict
            Metadata for the scorer.
        """
        _raise_for_params(score_params, self, "score")
        if sample_weight is not None:
            score_params["sample_weight"] = sample_weight
        if _routing_enabled():
            score_params = process_routing(self, "score", **score_params).scorer.score
        return self._get_scorer()(self, X, y, **score_params)

    def _check_ratios(self) -> None:
        ratios: Any = self.l1_ratios
        valid = ratios is not None and len(ratios) > 0
        if not valid or not all(isinstance(r, Number) and 0 <= r <= 1 for r in ratios):  # type: ignore[operator]
            raise ValueError(
                f"l1_ratios must be an array-like of numbers between 0 and 1; got (l1_ratios={ratios!r})"
            )

    def _fit_folds(self, X: Any, y: Any, sample_weight: Any, params: dict[str, Any]) -> Self:
        """Fits every fold, fraction and strength, then all rows with the best."""
        matrix = self._rows(X, reset=True)
        codes, classes, _ = self._target(matrix, y, sample_weight)
        if len(classes) < 2:
            raise ValueError(
                "This solver needs samples of at least 2 classes in the data, but the data contains only one "
                f"class: {classes[0]}."
            )
        X = check_array(X, accept_sparse="csr", dtype=np.float64)
        y = classes[codes]
        if _routing_enabled():
            routed = process_routing(self, "fit", sample_weight=sample_weight, **params)
            split_params, score_params = routed.splitter.split, routed.scorer.score
        else:
            split_params, score_params = {}, dict(params)
            if sample_weight is not None:
                score_params["sample_weight"] = sample_weight
        folds = list(check_cv(self.cv, y, classifier=True).split(X, y, **split_params))
        paths = _Paths(self, X, y, classes, checked_weights(sample_weight, codes), score_params)
        for train, test in folds:
            paths.fit_fold(train, test)
        return self._choose(paths)

    def _choose(self, paths: "_Paths") -> Self:
        scores = np.array(paths.scores)
        coefs = np.array(paths.coefs)
        n_folds, n_ratios, n_strengths = scores.shape
        self.classes_ = paths.classes
        # Among equal scores the smallest `C` is chosen, then the first fraction.
        by_strength = scores.transpose(0, 2, 1)
        if self.refit:
            best = np.unravel_index(np.argmax(by_strength.sum(axis=0)), (n_strengths, n_ratios))
            C, ratio = paths.strengths[best[0]], paths.ratios[best[1]]
            model = paths.model(C, ratio).fit(paths.X, paths.y, paths.weights)
            fitted = model._fitted
        else:
            flat = np.argmax(by_strength.reshape(n_folds, -1), axis=1)
            strength, ratio_index = np.unravel_index(flat, (n_strengths, n_ratios))
            chosen = coefs[np.arange(n_folds), ratio_index, strength].mean(axis=0)
            C = float(np.mean(paths.strengths[strength]))
            # Without a mixture of penalties there is no choice of a fraction.
            mixed = paths.penalty == "elasticnet"
            ratio = float(np.mean(np.asarray(paths.ratios)[ratio_index])) if mixed else 0.0
            fitted = self._from_weights(paths, chosen, C, ratio)
        self._set_fitted(fitted, len(paths.y))
        self._set_attributes(paths, scores, coefs, C, ratio)
        return self

    def _from_weights(
        self, paths: "_Paths", weights: np.ndarray, C: float, ratio: float
    ) -> _mercer.Fitted:
        """The model of given weights, intercepts last."""
        width = paths.X.shape[1]
        intercepts = weights[:, width] if self.fit_intercept else np.zeros(len(weights))
        fields = {
            "coefficients": np.ascontiguousarray(weights[:, :width]),
            "intercepts": np.ascontiguousarray(intercepts),
            "n_iter": 0,
        }
        params = paths.model(C, ratio)._params()
        names = labels.to_python(paths.classes)
        return _mercer.from_fields("logistic", params, fields, names, self._names(), width)

    def _set_attributes(
        self, paths: "_Paths", scores: np.ndarray, coefs: np.ndarray, C: float, ratio: float
    ) -> None:
        """The results of cross-validation, in the layout of scikit-learn 1.10 or in the legacy one."""
        n_iter = np.array(paths.n_iter, dtype=np.int32)
        given = not (self.l1_ratios is None or isinstance(self.l1_ratios, str))
        self.Cs_ = paths.strengths
        self.l1_ratios_ = np.asarray(paths.ratios if given else [None])
        if self.use_legacy_attributes is not True:
            self.C_, self.l1_ratio_ = float(C), float(ratio)
            if not given:
                self.l1_ratios_ = np.asarray(paths.ratios)
            self.scores_, self.n_iter_, self.coefs_paths_ = scores, n_iter, coefs
            return
        binary = len(self.classes_) == 2
        positive = self.classes_[1:] if binary else self.classes_
        n_outputs = len(positive)
        self.C_ = np.full(n_outputs, C)
        self.l1_ratio_ = np.full(n_outputs, ratio if given else None)
        # One entry per class: folds × Cs × l1_ratios, without the last axis if it was not requested.
        last: Any = slice(None) if given else 0
        by_strength = scores.transpose(0, 2, 1)[:, :, last]
        self.scores_ = {c: by_strength.copy() for c in positive}
        self.n_iter_ = n_iter.transpose(0, 2, 1)[None][:, :, :, last]
        moved = coefs.transpose(3, 0, 2, 1, 4)
        self.coefs_paths_ = {c: moved[k][:, :, last] for k, c in enumerate(positive)}


class _Paths:
    """The regularization paths of all folds: scores and iterations by fold, fraction and strength, and the
    coefficients, intercepts last."""

    def __init__(
        self, estimator: Any, X: Any, y: Any, classes: Any, weights: Any, score_params: Any
    ) -> None:
        self.estimator, self.X, self.y, self.classes = estimator, X, y, classes
        self.weights, self.score_params = weights, score_params
        given = estimator.l1_ratios
        penalty = "l2" if estimator.penalty == "deprecated" else estimator.penalty
        if given is None or isinstance(given, str) or len(given) == 0:
            self.ratios = [{"l1": 1.0}.get(penalty, 0.0)]
        else:
            self.ratios = [float(r) for r in given]
            penalty = (
                "l2"
                if not any(self.ratios)
                else "l1"
                if set(self.ratios) == {1.0}
                else "elasticnet"
            )
        self.penalty = penalty
        Cs = estimator.Cs
        given_strengths = np.logspace(-4, 4, Cs) if isinstance(Cs, Integral) else Cs
        self.strengths = np.asarray(given_strengths, dtype=np.float64)
        self.class_weight = estimator.class_weight
        if self.class_weight == "balanced":
            # The weights of all rows, also in the folds.
            balanced = compute_class_weight("balanced", classes=classes, y=y, sample_weight=weights)
            self.class_weight = dict(zip(classes.tolist(), balanced, strict=True))
        self.scores: list[Any] = []
        self.n_iter: list[Any] = []
        self.coefs: list[Any] = []

    def model(self, C: float, ratio: float | None) -> LogisticRegression:
        estimator = self.estimator
        return LogisticRegression(
            C=float(C),
            l1_ratio=ratio,
            fit_intercept=estimator.fit_intercept,
            class_weight=self.class_weight,
            tol=estimator.tol,
            max_iter=estimator.max_iter,
            solver=estimator.solver,
            intercept_scaling=estimator.intercept_scaling,
            n_jobs=estimator.n_jobs,
        )

    def fit_fold(self, train: np.ndarray, test: np.ndarray) -> None:
        X, y = self.X[train], self.y[train]
        weights = None if self.weights is None else self.weights[train]
        held_out = self.X[test], self.y[test]
        params = _check_method_params(self.X, self.score_params, indices=test)
        scorer = self._scorer()
        scores, iterations, paths = [], [], []
        if len(np.unique(y)) < 2:
            self._add_constant_fold(y[0], scorer, held_out, params)
            return
        for ratio in self.ratios:
            model = self.model(1.0, ratio)
            model.warm_start = self.estimator.solver != "liblinear"
            of_ratio, n_iter, path = [], [], []
            for C in self.strengths:
                model.C = float(C)
                model.fit(X, y, weights)
                weights_table = self._weights_of(model)
                path.append(weights_table)
                scored = self._all_classes(model, weights_table)
                of_ratio.append(scorer(scored, *held_out, **params))
                n_iter.append(max(int(np.max(model.n_iter_)), 1))
            scores.append(of_ratio)
            iterations.append(n_iter)
            paths.append(path)
        self.scores.append(scores)
        self.n_iter.append(iterations)
        self.coefs.append(paths)

    def _scorer(self) -> Any:
        """The scorer, which is given all classes: a fold may lack some of them."""
        scorer = self.estimator._get_scorer()
        function = getattr(scorer, "_score_func", None)
        known = {} if function is None else inspect.signature(function).parameters
        if "labels" not in known:
            return scorer
        options = dict(scorer._kwargs) | {"labels": self.classes}
        if len(self.classes) == 2 and "pos_label" in known:
            options.setdefault("pos_label", self.classes[-1])
        return make_scorer(
            function,
            greater_is_better=scorer._sign == 1,
            response_method=scorer._response_method,
            **options,
        )

    def _add_constant_fold(self, label: Any, scorer: Any, held_out: Any, params: Any) -> None:
        """A fold with a single class: its probability is one."""
        n_outputs = 1 if len(self.classes) == 2 else len(self.classes)
        table = np.zeros((n_outputs, self.X.shape[1] + int(self.estimator.fit_intercept)))
        if self.estimator.fit_intercept:
            table[:, -1] = ABSENT_LOG_ODDS
            if n_outputs == 1:
                table[0, -1] *= -1 if label == self.classes[1] else 1
            else:
                table[np.searchsorted(self.classes, label), -1] = 0.0
        model = self._of_table(table, self.model(1.0, 0.0))
        score = scorer(model, *held_out, **params)
        shape = (len(self.ratios), len(self.strengths))
        self.scores.append(np.full(shape, score).tolist())
        self.n_iter.append(np.ones(shape, dtype=int).tolist())
        self.coefs.append([[table] * shape[1]] * shape[0])

    def _weights_of(self, model: LogisticRegression) -> np.ndarray:
        """The weights by class, intercepts last; zero for classes without rows in the fold, whose intercept is the
        smallest of the others minus the range of a probability of zero."""
        intercepts = np.asarray(model.intercept_)
        table = np.asarray(model.coef_)
        if self.estimator.fit_intercept:
            table = np.column_stack([table, intercepts])
        n_outputs = 1 if len(self.classes) == 2 else len(self.classes)
        if len(model.classes_) == len(self.classes):
            return table
        full = np.zeros((n_outputs, table.shape[1]))
        index = np.searchsorted(self.classes, model.classes_)
        # Two classes in the fold: the weights of the second against the first.
        full[index[1:] if len(table) == 1 else index] = table
        if self.estimator.fit_intercept:
            missing = np.setdiff1d(np.arange(n_outputs), index)
            full[missing, -1] = full[:, -1].min() + ABSENT_LOG_ODDS
        return full

    def _all_classes(self, model: LogisticRegression, table: np.ndarray) -> LogisticRegression:
        """The model with probabilities for the classes that the fold lacks too."""
        if len(model.classes_) == len(self.classes):
            return model
        return self._of_table(table, self.model(model.C, model.l1_ratio))

    def _of_table(self, table: np.ndarray, full: LogisticRegression) -> LogisticRegression:
        width = self.X.shape[1]
        intercepts = table[:, width] if self.estimator.fit_intercept else np.zeros(len(table))
        fields = {
            "coefficients": np.ascontiguousarray(table[:, :width]),
            "intercepts": np.ascontiguousarray(intercepts),
            "n_iter": 0,
        }
        names = labels.to_python(self.classes)
        full._fitted = _mercer.from_fields("logistic", full._params(), fields, names, None, width)
        full.classes_, full.n_features_in_ = self.classes, width
        return full
