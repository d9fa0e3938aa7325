"""Polynomial features with scikit-learn's helpers and messages."""

from itertools import chain, combinations, combinations_with_replacement
from math import comb
from numbers import Integral
from typing import Any, Self

import numpy as np

from .base.sklearn_parameters import invalid_parameter
from .preprocessing import PolynomialFeatures as CorePolynomialFeatures

__all__ = ["PolynomialFeatures"]


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
        self._check_size(X)
        return super().fit(X, y, sample_weight)

    def _check_size(self, X: Any) -> None:
        shape: Any = getattr(X, "shape", ())
        if len(shape) != 2:
            return
        degree: Any = self.degree
        low, high = (0, degree) if isinstance(degree, Integral) else degree
        count = self._num_combinations(
            shape[1], int(low), int(high), self.interaction_only, self.include_bias
        )
        if count > np.iinfo(np.intp).max:
            raise ValueError(
                "The output that would result from the current configuration would have "
                f"{count} features which is too large to be indexed by {np.dtype(np.intp).name}"
            )

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
            raise invalid_parameter(self, "degree", "an int, or a pair (min_degree, max_degree)")
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
