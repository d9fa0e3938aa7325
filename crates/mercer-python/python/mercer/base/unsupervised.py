"""Estimators without a target: outlier detectors, clusterers and transformers."""

import warnings
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import (
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    OutlierMixin,
    TransformerMixin,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_feature_names_in, check_array, check_is_fitted

from .. import rows
from ..exceptions import ApproximationErrorWarning
from .estimator import Estimator


class Unsupervised(Estimator):
    """Fitted to rows without a target."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            Training rows.
        y : None
            Ignored; the parameter exists for pipelines.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights.
        """
        return self._fit_rows(X, sample_weight)


class OutlierDetector(OutlierMixin, Unsupervised):
    """Distinguishes outliers from rows like the training rows."""

    def predict(self, X: Any) -> np.ndarray:
        """1 for inliers and -1 for outliers."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def score_samples(self, X: Any) -> np.ndarray:
        """The decision function without its offset."""
        return self.decision_function(X) + self.offset_


class Clusterer(ClusterMixin, Unsupervised):
    """Assigns rows to clusters."""

    labels_: np.ndarray

    def predict(self, X: Any) -> np.ndarray:
        """The index of the nearest cluster of each row."""
        return self._apply("predict_clusters", X).astype(np.int32)

    def distances(self, X: Any) -> np.ndarray:
        """Squared distances to the cluster centers, one column per cluster."""
        return self._apply("cluster_distances", X)


class Transformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Unsupervised):
    """Maps rows to rows of other columns."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _fit_rows(self, X: Any, sample_weight: Any) -> Self:
        super()._fit_rows(X, sample_weight)
        requested = getattr(self, "error", None)
        if requested is not None and self.error_ > requested:
            warnings.warn(self.certificate_["text"], ApproximationErrorWarning, stacklevel=3)
        return self

    def transform(self, X: Any) -> Any:
        """The transformed rows, in the precision of ``X``; sparse if the map of sparse rows is."""
        matrix = self._known_rows(X)
        if isinstance(matrix, tuple):
            sparse = self._fitted.transform_sparse(matrix)
            if sparse is not None:
                return rows.like(X, sparse)
        transformed = self._dense(X, matrix)
        if isinstance(matrix, tuple) and self._id == "additive-chi2":
            # The chi-squared map keeps zeros, so that its output is as sparse as its input.
            kind = sp.csr_array if isinstance(X, sp.sparray) else sp.csr_matrix
            return kind(transformed)
        return np.asfortranarray(transformed) if getattr(self, "order", "C") == "F" else transformed

    @available_if(lambda self: getattr(self, "fit_inverse_transform", False))
    def inverse_transform(self, X: Any) -> np.ndarray:
        """Approximate pre-images of transformed rows, by the inverse map learned in ``fit``.

        Parameters
        ----------
        X : array of shape (n_samples, n_components)
            Transformed rows.
        """
        check_is_fitted(self)
        X = check_array(X, dtype=[np.float64, np.float32])
        if X.shape[1] != self._n_features_out:
            raise ValueError(
                f"X has {X.shape[1]} columns, but the model has {self._n_features_out} components"
            )
        inverse = self._fitted.inverse_transform(np.ascontiguousarray(X, dtype=np.float64))
        return inverse.astype(X.dtype, copy=False)

    def _dense(self, X: Any, matrix: np.ndarray | rows.Csr) -> np.ndarray:
        if isinstance(matrix, np.ndarray) and matrix.dtype == np.float32:
            return self._fitted.transform_f32(matrix)
        transformed = self._fitted.transform(matrix)
        # Sparse rows are always passed in double precision.
        single = getattr(X, "dtype", None) == np.float32
        return transformed.astype(np.float32) if single else transformed

    @property
    def _n_features_out(self) -> int:
        return self._fitted.n_outputs

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the output columns: formulas of the input columns if the map defines them,
        otherwise the class name with a number."""
        check_is_fitted(self)
        inputs = _check_feature_names_in(self, input_features)
        names = self._fitted.feature_names_out([str(name) for name in inputs])
        if names is None:
            return super().get_feature_names_out(input_features)
        return np.asarray(names, dtype=object)
