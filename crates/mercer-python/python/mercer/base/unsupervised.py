"""Those that learn from rows alone: they know strangers, find clusters, or make new columns."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import (
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    OutlierMixin,
    TransformerMixin,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_feature_names_in, check_array, check_is_fitted

from .. import rows
from ..exceptions import ErrorNotReachedWarning
from .estimator import Estimator


class Alone(Estimator):
    """Learns from rows that have no target."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learns from rows alone.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            The rows.
        y : ignored
            There for scikit-learn's pipelines.
        sample_weight : array of shape (n_samples,), default=None
            How often each row counts.
        """
        return self._fit_rows(X, sample_weight)


class OutlierDetector(OutlierMixin, Alone):
    """Knows the rows that are like those it learned from."""

    def predict(self, X: Any) -> np.ndarray:
        """1 for each row that is inside, -1 for a stranger."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def score_samples(self, X: Any) -> np.ndarray:
        """The decision without its offset."""
        return self.decision_function(X) + self.offset_


class Clusterer(ClusterMixin, Alone):
    """Knows which rows lie together."""

    labels_: np.ndarray

    def predict(self, X: Any) -> np.ndarray:
        """The nearest cluster of each row."""
        matrix = self._known_rows(X)
        return self._fitted.assign(matrix).astype(np.int32)

    def distances(self, X: Any) -> np.ndarray:
        """Squared distances from the center of each cluster, a column each."""
        matrix = self._known_rows(X)
        return self._fitted.cluster_distances(matrix)


class Transformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Alone):
    """Maps rows to other rows."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _fit_rows(self, X: Any, sample_weight: Any) -> Self:
        super()._fit_rows(X, sample_weight)
        asked = getattr(self, "error", None)
        if asked is not None and self.error_ > asked:
            warnings.warn(self.certificate_["text"], ErrorNotReachedWarning, stacklevel=3)
        return self

    def transform(self, X: Any) -> Any:
        """The new rows, in single precision where the rows are; sparse where new rows of sparse rows are."""
        matrix = self._known_rows(X)
        if isinstance(matrix, tuple):
            thin = self._fitted.transform_sparse(matrix)
            if thin is not None:
                return rows.like(X, thin)
        new = self._dense(X, matrix)
        return np.asfortranarray(new) if getattr(self, "order", "C") == "F" else new

    @available_if(lambda self: getattr(self, "fit_inverse_transform", False))
    def inverse_transform(self, X: Any) -> np.ndarray:
        """Rows that mapped ones could come from: the way back, as it was learned.

        Parameters
        ----------
        X : array of shape (n_samples, n_components)
            Mapped rows.
        """
        check_is_fitted(self)
        X = check_array(X, dtype=[np.float64, np.float32])
        if X.shape[1] != self._n_features_out:
            raise ValueError(f"X has {X.shape[1]} columns, and there are {self._n_features_out} components")
        back = self._fitted.inverse(np.ascontiguousarray(X, dtype=np.float64))
        return back.astype(X.dtype, copy=False)

    def _dense(self, X: Any, matrix: np.ndarray | rows.Compressed) -> np.ndarray:
        if isinstance(matrix, np.ndarray) and matrix.dtype == np.float32:
            return self._fitted.transform_f32(matrix)
        new = self._fitted.transform(matrix)
        # Compressed rows are widened at the door.
        return new.astype(np.float32) if getattr(X, "dtype", None) == np.float32 else new

    @property
    def _n_features_out(self) -> int:
        return self._fitted.n_outputs

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the new columns: made of the old ones where the map says how, else numbered."""
        check_is_fitted(self)
        inputs = _check_feature_names_in(self, input_features)
        names = self._fitted.feature_names_out([str(name) for name in inputs])
        if names is None:
            return super().get_feature_names_out(input_features)
        return np.asarray(names, dtype=object)
