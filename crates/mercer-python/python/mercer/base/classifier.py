"""Those that tell classes apart: at once, by statistics, or one row after the other."""

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .. import _mercer, labels, rows
from .drop_in import refuse_start
from .estimator import Estimator, with_fitted
from .inputs import check_lengths, row_weights


class Classifier(ClassifierMixin, Estimator):
    """Tells classes apart."""

    classes_: np.ndarray
    #: Whether classes that were not named at the start may come later.
    _classes_grow: bool

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # As scikit-learn says of its own: counting says little about real numbers.
        counting = {"counts", "binary", "categories"}
        tags.classifier_tags.poor_score = not counting.isdisjoint(self._inputs)
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learns from rows and their classes.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            The rows. NaN and null are missing values, where the estimator takes them.
        y : array of shape (n_samples,)
            Their classes: truth values, whole numbers, numbers or strings.
        sample_weight : array of shape (n_samples,), default=None
            How often each row counts.
        """
        table = rows.with_texts(X) if "mixed" in self._inputs else None
        matrix = self._rows(X, reset=True) if table is None else self._columns(table)
        codes, classes, weights = self._target(matrix, y, sample_weight)
        fitted = self._learned(table, matrix, codes, classes, weights, wait=False)
        self.classes_ = classes
        self._classes_grow = False
        return self._keep(fitted, len(codes))

    def _columns(self, table: rows.Columns) -> np.ndarray:
        """Remembers the columns of a table with texts; an array as long as it stands for its rows."""
        names = [name for name, _, _ in table]
        rest = np.empty((len(table[0][2]), 0))
        self._levels = None
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(names, dtype=object)
        return rest

    def _learned(
        self,
        table: rows.Columns | None,
        matrix: np.ndarray | rows.Compressed,
        codes: np.ndarray,
        classes: np.ndarray,
        weights: np.ndarray | None,
        *,
        wait: bool,
    ) -> _mercer.Fitted:
        names, params, limit = labels.natives(classes), self._params(), self._bounds()
        if table is not None:
            return _mercer.fit_table(self._id, params, table, codes, names, weights, limit, wait)
        columns, start = self._names(), self._start()
        return _mercer.fit(
            self._id, params, matrix, codes, names, weights, columns, self._levels, limit, wait, start
        )

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row."""
        matrix = self._known_rows(X)
        return self.classes_[self._fitted.predict(matrix)]

    def _target(
        self, matrix: np.ndarray | rows.Compressed, y: Any, sample_weight: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        codes, classes = labels.encode(y)
        check_lengths(matrix, codes)
        return codes, classes, row_weights(sample_weight, codes)


class Mergeable(Classifier):
    """Learns by statistics: rows can be added, taken back out, and learned in parts."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learns more rows. Any split of the rows gives the model of all of them.

        Rows too few for a model, as those of a single class, are kept; predicting then raises
        ``ValueError`` until more have come.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,)
            Their classes.
        classes : array of shape (n_classes,), default=None
            All classes that will ever occur. Given in the first call, others are refused later;
            without it, classes are added as they come.
        sample_weight : array of shape (n_samples,), default=None
            How often each row counts.
        """
        first = not self.__sklearn_is_fitted__()
        table = rows.with_texts(X) if first and "mixed" in self._inputs else None
        matrix = self._rows(X, reset=first) if table is None else self._columns(table)
        codes, seen, weights = self._target(matrix, y, sample_weight)
        known = self._known_classes(seen, classes, first=first)
        codes = labels.recode(codes, seen, known)
        if first:
            fitted = self._learned(table, matrix, codes, known, weights, wait=True)
            self._classes_grow = classes is None
        else:
            names, params, limit = labels.natives(known), self._params(), self._bounds()
            fitted = self._fitted.observe(params, matrix, codes, names, weights, limit)
        self.classes_ = known
        return self._keep(fitted, len(codes))

    def _known_classes(self, seen: np.ndarray, classes: Any, *, first: bool) -> np.ndarray:
        given = None if classes is None else labels.encode(classes)[1]
        if first:
            return seen if given is None else given
        if given is not None and not np.array_equal(given, self.classes_):
            raise ValueError(
                f"`classes={given!r}` is not the same as on last call to partial_fit, "
                f"was: {self.classes_!r}"
            )
        if not self._classes_grow:
            return self.classes_
        kinds = {type(label) for label in labels.natives(np.concatenate([self.classes_, seen]))}
        if len(kinds) > 1:
            words = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise ValueError(f"y changes its labels' type: {words}")
        return np.unique(np.concatenate([self.classes_, seen]))

    def merge(self, other: Self) -> Self:
        """The model of the rows of both, as a new estimator.

        Both must have the same parameters and columns; classes may differ.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        merged = with_fitted(self, self._fitted.merge(other._fitted))
        merged.classes_ = np.unique(np.concatenate([self.classes_, other.classes_]))
        merged._classes_grow = self._classes_grow or other._classes_grow
        return merged

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Takes rows back out, as if they had never been learned."""
        matrix = self._known_rows(X)
        codes, seen, weights = self._target(matrix, y, sample_weight)
        codes = labels.recode(codes, seen, self.classes_)
        names = labels.natives(self.classes_)
        self._fitted = self._fitted.forget(matrix, codes, names, weights)
        return self


class Online(Classifier):
    """Learns one row after the other: more rows can be learned at any time, and their order matters."""

    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Learns from rows and their classes.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,)
            Their classes.
        coef_init, intercept_init : None
            Weights to begin at. Nothing else is taken.
        sample_weight : array of shape (n_samples,), default=None
            How much each row counts.
        """
        refuse_start(self, coef_init, intercept_init)
        return super().fit(X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Goes on with one pass over more rows.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,)
            Their classes.
        classes : array of shape (n_classes,), default=None
            All classes that will ever occur; needed in the first call.
        sample_weight : array of shape (n_samples,), default=None
            How much each row counts.
        """
        first = not self.__sklearn_is_fitted__()
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        matrix = self._rows(X, reset=first)
        codes, seen, weights = self._target(matrix, y, sample_weight)
        known = self.classes_ if classes is None else labels.encode(classes)[1]
        if not first and not np.array_equal(known, self.classes_):
            raise ValueError(
                f"`classes={known!r}` is not the same as on last call to partial_fit, "
                f"was: {self.classes_!r}"
            )
        codes = labels.recode(codes, seen, known)
        fitted = _mercer.learn_on(
            self._id,
            self._params(),
            None if first else self._fitted,
            matrix,
            codes,
            labels.natives(known),
            weights,
            self._names(),
            self._bounds(),
        )
        self.classes_ = known
        self._classes_grow = False
        return self._keep(fitted, len(codes))
