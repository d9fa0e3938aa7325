"""Classifiers: fitted at once, from mergeable statistics, or online."""

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .. import labels, rows
from .averaged import Averaged
from .estimator import Estimator, with_fitted
from .inputs import check_lengths, checked_weights
from .sklearn_parameters import refuse_early_stopping


class Classifier(ClassifierMixin, Estimator):
    """Predicts classes."""

    classes_: np.ndarray

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # As for scikit-learn's discrete naive Bayes: the data of the checks is real-valued.
        discrete = {"counts", "binary", "categories"}
        tags.classifier_tags.poor_score = not discrete.isdisjoint(self._inputs)
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            Training rows. NaN and null are missing values, if the estimator accepts them.
        y : array of shape (n_samples,)
            Class labels: booleans, integers, floats or strings.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights.
        """
        table = rows.text_table(X) if "mixed" in self._inputs else None
        matrix = self._rows(X, reset=True) if table is None else self._columns(table)
        codes, classes, weights = self._target(matrix, y, sample_weight)
        names, start = labels.to_python(classes), self._start()
        request = self._request(table or matrix, codes, labels=names, weights=weights, start=start)
        fitted = self._fit_core(request)
        self.classes_ = classes
        return self._set_fitted(fitted, len(codes))

    def _columns(self, table: rows.Columns) -> np.ndarray:
        """Stores the column names of a table with text; returns an empty matrix with as many rows."""
        names = [name for name, _, _ in table]
        self._levels = None
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(names, dtype=object)
        return np.empty((len(table[0][2]), 0))

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row."""
        self._check_decision_rule()
        codes = self._apply("predict", X)
        return self.classes_[codes]

    def _check_decision_rule(self) -> None:
        """Refuses parameters that leave the predicted class undefined."""
        ovo = getattr(self, "decision_function_shape", None) == "ovo"
        if ovo and getattr(self, "break_ties", False):
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")

    def _known_classes(self, classes: Any, *, first: bool) -> np.ndarray:
        """All classes of ``partial_fit``: those of its first call."""
        given = self.classes_ if classes is None else labels.encode(classes)[1]
        if not first and not np.array_equal(given, self.classes_):
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, "
                f"was: {self.classes_!r}"
            )
        return given

    def _target(
        self, matrix: np.ndarray | rows.Csr, y: Any, sample_weight: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        codes, classes = labels.encode(y)
        check_lengths(matrix, codes)
        return codes, classes, checked_weights(sample_weight, codes, self._id)


class Mergeable(Classifier):
    """Fitted from mergeable sufficient statistics: supports adding, removing and merging rows."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Adds rows to the fit. Any split of the rows into batches gives the model of all rows.

        Too few rows for a model, such as rows of a single class, are stored; predicting raises
        ``ValueError`` until there are enough.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            Training rows.
        y : array of shape (n_samples,)
            Class labels.
        classes : array of shape (n_classes,), default=None
            All classes; required in the first call.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights.
        """
        first = not self.__sklearn_is_fitted__()
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        table = rows.text_table(X) if first and "mixed" in self._inputs else None
        matrix = self._rows(X, reset=first) if table is None else self._columns(table)
        codes, observed, weights = self._target(matrix, y, sample_weight)
        known = self._known_classes(classes, first=first)
        codes = labels.recode(codes, observed, known)
        names = labels.to_python(known)
        if first:
            request = self._request(
                table or matrix, codes, labels=names, weights=weights, partial=True
            )
            fitted = self._fit_core(request)
        else:
            params, limits = self._params(), self._limits()
            fitted = self._fitted.observe(params, matrix, codes, names, weights, limits)
        self.classes_ = known
        return self._set_fitted(fitted, len(codes))

    def merge(self, other: Self) -> Self:
        """Merges two fits into a new estimator, equal to a fit of the rows of both.

        Both must have the same parameters and columns; the classes may differ.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        merged = with_fitted(self, self._fitted.merge(other._fitted))
        merged.classes_ = np.unique(np.concatenate([self.classes_, other.classes_]))
        return merged

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Removes rows from the fit, as if they had never been added."""
        matrix = self._known_rows(X)
        codes, observed, weights = self._target(matrix, y, sample_weight)
        codes = labels.recode(codes, observed, self.classes_)
        names = labels.to_python(self.classes_)
        self._fitted = self._fitted.forget(matrix, codes, names, weights)
        return self


class Online(Averaged, Classifier):
    """Fitted online, one row at a time; the result depends on the order of the rows."""

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            Training rows.
        y : array of shape (n_samples,)
            Class labels.
        coef_init : array of shape (n_classes, n_features), default=None
            Initial weights; for two classes one row. ``None`` starts from zero.
        intercept_init : array of shape (n_classes,), default=None
            Initial intercepts.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights.
        """
        if coef_init is None and intercept_init is None:
            return super().fit(X, y, sample_weight)
        matrix = self._rows(X, reset=True)
        codes, classes, weights = self._target(matrix, y, sample_weight)
        names = labels.to_python(classes)
        start = self._initial(matrix, names, coef_init, intercept_init)
        request = self._request(matrix, codes, labels=names, weights=weights, start=start)
        fitted = self._fit_core(request)
        self.classes_ = classes
        return self._set_fitted(fitted, len(codes))

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Continues the fit with one epoch over more rows.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            Training rows.
        y : array of shape (n_samples,)
            Class labels.
        classes : array of shape (n_classes,), default=None
            All classes; required in the first call.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights.
        """
        first = not self.__sklearn_is_fitted__()
        refuse_early_stopping(self)
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        matrix = self._rows(X, reset=first)
        codes, observed, weights = self._target(matrix, y, sample_weight)
        known = self._known_classes(classes, first=first)
        codes = labels.recode(codes, observed, known)
        names, start = labels.to_python(known), None if first else self._fitted
        request = self._request(
            matrix, codes, labels=names, weights=weights, start=start, partial=True
        )
        fitted = self._fit_core(request)
        self.classes_ = known
        return self._set_fitted(fitted, len(codes))
