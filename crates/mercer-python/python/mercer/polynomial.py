"""Polynomial features with scikit-learn's helpers and messages, and with 64-bit indices for wide sparse rows."""

from itertools import chain, combinations, combinations_with_replacement
from math import comb
from numbers import Integral
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import _check_feature_names, check_array, check_is_fitted

from .base.sklearn_parameters import invalid_parameter
from .preprocessing import PolynomialFeatures as CorePolynomialFeatures

__all__ = ["PolynomialFeatures"]


#: The columns that the 32-bit indices of the core can count.
MAX_COLUMNS = np.iinfo(np.int32).max


def _count(n: int, degree: int, interaction_only: bool) -> int:
    """The number of products of a degree."""
    return comb(n, degree) if interaction_only else comb(n + degree - 1, degree)


def _rank(n: int, columns: list[int], interaction_only: bool) -> int:
    """The position of a product of sorted columns among all products of its degree, in lexicographic order."""
    degree = len(columns)
    if not interaction_only:
        # Combinations with repetition of n are combinations of n + degree - 1.
        n += degree - 1
        columns = [column + k for k, column in enumerate(columns)]
    after = sum(comb(n - 1 - column, degree - k) for k, column in enumerate(columns))
    return comb(n, degree) - 1 - after


class PolynomialFeatures(CorePolynomialFeatures):
    __doc__ = CorePolynomialFeatures.__doc__
    __module__ = "mercer.preprocessing"

    @staticmethod
    def _combinations(
        n_features: int,
        min_degree: int,
        max_degree: int,
        interaction_only: bool,
        include_bias: bool,
    ) -> Any:
        """The columns of each product, in the order of the output."""
        choose = combinations if interaction_only else combinations_with_replacement
        degrees = range(max(1, min_degree), max_degree + 1)
        products = chain.from_iterable(choose(range(n_features), degree) for degree in degrees)
        return chain([()], products) if include_bias else products

    @staticmethod
    def _num_combinations(
        n_features: int,
        min_degree: int,
        max_degree: int,
        interaction_only: bool,
        include_bias: bool,
    ) -> int:
        """The number of output columns."""
        degrees = range(max(1, min_degree), max_degree + 1)
        if interaction_only:
            count = sum(comb(n_features, degree) for degree in degrees)
        else:
            count = sum(comb(n_features + degree - 1, degree) for degree in degrees)
        return count + int(include_bias)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fits the model: counts the columns.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            Training rows; only their number of columns counts.
        y : None
            Ignored; the parameter exists for pipelines.
        sample_weight : array of shape (n_samples,), default=None
            Without effect.
        """
        self._check_degree()
        self.__dict__.pop("_n_products", None)
        count = self._check_size(X)
        wide = sp.issparse(X) and max(count or 0, X.shape[1]) > MAX_COLUMNS
        if count == 0 or wide:
            return self._fit_in_python(X, count)
        return super().fit(X, y, sample_weight)

    def _fit_in_python(self, X: Any, count: int | None) -> Self:
        """More columns than the indices of the core can count, or none."""
        self.__dict__.pop("_fitted", None)
        _check_feature_names(self, X, reset=True)
        X = check_array(X, accept_sparse=True, accept_large_sparse=True)
        self.n_features_in_, self._n_products = X.shape[1], count
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return "_n_products" in self.__dict__ or super().__sklearn_is_fitted__()

    def __getattr__(self, name: str) -> Any:
        if name == "n_output_features_" and "_n_products" in self.__dict__:
            return self._n_products
        if name == "powers_" and "_n_products" in self.__dict__:
            return np.array(
                [np.bincount(p, minlength=self.n_features_in_) for p in self._products()],
                dtype=np.int64,
            ).reshape(-1, self.n_features_in_)
        return super().__getattr__(name)

    def _products(self) -> Any:
        low, high = self._degrees()
        return self._combinations(
            self.n_features_in_, low, high, self.interaction_only, self.include_bias
        )

    def _degrees(self) -> tuple[int, int]:
        degree: Any = self.degree
        low, high = (0, degree) if isinstance(degree, Integral) else degree
        return int(low), int(high)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the output columns: the products of the input columns."""
        if self.__dict__.get("_n_products") == 0:
            return np.array([], dtype=object)
        return super().get_feature_names_out(input_features)

    def transform(self, X: Any) -> Any:
        """The transformed rows, in the precision of ``X``; sparse if the rows are sparse."""
        check_is_fitted(self)
        if "_n_products" not in self.__dict__:
            return super().transform(X)
        _check_feature_names(self, X, reset=False)
        types = [np.float64, np.float32]
        X = check_array(X, accept_sparse="csr", accept_large_sparse=True, dtype=types)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        if not sp.issparse(X):
            return np.empty((X.shape[0], 0), dtype=X.dtype, order=self.order)
        return self._expand(X)

    def _expand(self, X: Any) -> Any:
        """The products of the nonzero cells of every row, with 64-bit column indices."""
        low, high = self._degrees()
        choose = combinations if self.interaction_only else combinations_with_replacement
        X = X.copy()
        X.sum_duplicates()
        n_features, first = X.shape[1], int(self.include_bias)
        starts = {}
        for degree in range(max(1, low), high + 1):
            starts[degree] = first
            first += _count(n_features, degree, self.interaction_only)
        values: list[Any] = []
        columns: list[int] = []
        offsets = [0]
        for row in range(X.shape[0]):
            cells = slice(X.indptr[row], X.indptr[row + 1])
            indices, data = X.indices[cells].tolist(), X.data[cells]
            if self.include_bias:
                values.append(1.0)
                columns.append(0)
            for degree, start in starts.items():
                for product in choose(range(len(indices)), degree):
                    values.append(np.prod(data[list(product)]))
                    of = [indices[k] for k in product]
                    columns.append(start + _rank(n_features, of, self.interaction_only))
            offsets.append(len(values))
        kind = sp.csr_array if isinstance(X, sp.sparray) else sp.csr_matrix
        parts = (
            np.array(values, dtype=X.dtype),
            np.array(columns, dtype=np.int64),
            np.array(offsets, dtype=np.int64),
        )
        return kind(parts, shape=(X.shape[0], first))

    def _check_size(self, X: Any) -> int | None:
        shape: Any = np.shape(X) if isinstance(X, list | tuple) else getattr(X, "shape", ())
        if len(shape) != 2:
            return None
        low, high = self._degrees()
        count = self._num_combinations(
            shape[1], low, high, self.interaction_only, self.include_bias
        )
        if count > np.iinfo(np.intp).max:
            raise ValueError(
                "The output that would result from the current configuration would have "
                f"{count} features which is too large to be indexed by {np.dtype(np.intp).name}"
            )
        return count

    def _check_degree(self) -> None:
        degree: Any = self.degree
        if isinstance(degree, Integral):
            if degree == 0 and not self.include_bias:
                raise ValueError(
                    "Setting degree to zero and include_bias to False would result in an empty output "
                    "array."
                )
            if degree < 0:
                raise invalid_parameter(self, "degree", "an int in the range [0, inf)")
            return
        pair = isinstance(degree, (tuple, list, np.ndarray)) and len(degree) == 2
        if not pair:
            raise invalid_parameter(
                self, "degree", "a non-negative int or tuple (min_degree, max_degree)"
            )
        low, high = degree
        integers = isinstance(low, Integral) and isinstance(high, Integral)
        if not integers or low < 0 or low > high:
            raise ValueError(
                "degree=(min_degree, max_degree) must be non-negative integers that fulfil min_degree "
                f"<= max_degree, got ({low}, {high})."
            )
        if high == 0 and not self.include_bias:
            raise ValueError(
                "Setting both min_degree and max_degree to zero and include_bias to False would result "
                "in an empty output array."
            )
