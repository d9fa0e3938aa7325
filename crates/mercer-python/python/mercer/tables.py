"""Tables of mixed columns: a vectorizer for scikit-learn pipelines, and checks."""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _mercer, rows

__all__ = ["TableVectorizer", "check"]


class TableVectorizer(TransformerMixin, BaseEstimator):
    """Turn a table of mixed columns into numeric features.

    Every column is read as the command line reads a file: numbers with thousands separators, decimal commas,
    percent and currency signs, dates (elapsed days, month, day, weekday, hour), booleans in any spelling,
    categories (one-hot, rare levels share indicators) and free text (tf-idf). Missing numbers are replaced by
    the median, with an indicator. Identifiers, constants and duplicated columns are dropped.

    Parameters
    ----------
    scale : {"standard", "robust", "min-max", "none"}, default="standard"
        Scaling of the numeric features.
    impute : {"median", "mean", "most-frequent", "none"}, default="median"
        Replacement of missing numeric values; ``"none"`` leaves NaN.
    drop : bool, default=True
        Drop columns that tell nothing about new rows: identifiers, constants and duplicates.

    Attributes
    ----------
    types_ : dict of str to str
        The type of each column that is used.
    dropped_ : dict of str to str
        The columns that are not used, with the reason.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of the training table.
    n_features_in_ : int
        Number of columns of the training table.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.preprocessing import TableVectorizer
    >>> table = pd.DataFrame({"amount": ["1.234,50", "99,00"], "day": ["2024-01-31", "2024-02-01"]})
    >>> TableVectorizer(scale="none").fit(table).types_
    {'amount': 'numeric', 'day': 'date'}
    """

    def __init__(self, *, scale: str = "standard", impute: str = "median", drop: bool = True):
        self.scale = scale
        self.impute = impute
        self.drop = drop

    def fit(self, X: Any, y: Any = None) -> Self:
        """Infer the types of the columns and fit their preprocessing; ``y`` is ignored."""
        columns = rows.string_table(X)
        steps = [f"scale={self.scale}", f"impute={self.impute}"]
        self._fitted = _mercer.Vectorizer.fit(columns, steps, self.drop)
        self.feature_names_in_ = np.array([name for name, _, _ in columns], dtype=object)
        self.n_features_in_ = len(columns)
        self.types_ = dict(self._fitted.types())
        self.dropped_ = dict(self._fitted.dropped())
        return self

    def transform(self, X: Any) -> Any:
        """The features of the rows: an array, or a CSR matrix if there are text columns."""
        check_is_fitted(self, "_fitted")
        encoded = self._fitted.transform(rows.string_table(X))
        if isinstance(encoded, tuple):
            data, indices, offsets, width = encoded
            return sp.csr_array((data, indices, offsets), shape=(len(offsets) - 1, width))
        return encoded

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the features; ``input_features`` is ignored."""
        check_is_fitted(self, "_fitted")
        return np.array(self._fitted.names(), dtype=object)

    def summary(self) -> list[str]:
        """The preprocessing in words, one line per kind of step."""
        check_is_fitted(self, "_fitted")
        return list(self._fitted.summary())

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "_fitted" in state:
            state["_fitted"] = state["_fitted"].to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if isinstance(state.get("_fitted"), bytes):
            state = {**state, "_fitted": _mercer.Vectorizer.from_bytes(state["_fitted"])}
        super().__setstate__(state)


def check(X: Any, target: str | None = None, task: str | None = None) -> list[dict[str, Any]]:
    """Check a table for learning a target: leaks, duplicates, imbalance, identifiers and more.

    Parameters
    ----------
    X : DataFrame
        The table, with the target.
    target : str, optional
        The name of the target column.
    task : {"classification", "regression"}, optional
        What to learn; inferred from the target if it is not given.

    Returns
    -------
    findings : list of dict
        Each with ``code``, ``title``, ``figure``, ``columns``, ``rows`` (counted from one) and ``remedy``.
        The codes are explained in docs/checks.

    Examples
    --------
    >>> import mercer
    >>> import pandas as pd
    >>> table = pd.DataFrame({"one": ["a"] * 40, "x": range(0, 80, 2), "y": ["no", "yes"] * 20})
    >>> [finding["code"] for finding in mercer.check(table, "y")]
    ['MRC008']
    """
    return list(_mercer.check(rows.string_table(X), target, task))
