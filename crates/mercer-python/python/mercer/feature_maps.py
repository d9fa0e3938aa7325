"""Kernel approximation with scikit-learn's names, messages and defaults."""

from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from .kernel_approximation import AdditiveChi2Sampler as CoreAdditiveChi2Sampler
from .kernel_approximation import Nystroem as CoreNystroem
from .kernel_approximation import RBFSampler as CoreRBFSampler

__all__ = ["AdditiveChi2Sampler", "Nystroem", "RBFSampler"]


class AdditiveChi2Sampler(CoreAdditiveChi2Sampler):
    __doc__ = CoreAdditiveChi2Sampler.__doc__
    __module__ = "mercer.kernel_approximation"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags

    def transform(self, X: Any) -> Any:
        """The transformed rows; without a call to ``fit``, which learns nothing but the number of columns, too."""
        if not self.__sklearn_is_fitted__():
            return clone(self).fit(X).transform(X)
        try:
            return super().transform(X)
        except ValueError as error:
            known = "Negative values in data passed to X in AdditiveChi2Sampler.transform"
            if str(error).startswith("Negative values in data:"):
                raise ValueError(str(error).replace("Negative values in data", known, 1)) from None
            raise

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the output columns: the root of every column, then cosines and sines by frequency."""
        check_is_fitted(self)
        inputs = _check_feature_names_in(self, input_features)
        suffixes = ["sqrt"]
        for step in range(1, self.sample_steps):
            suffixes += [f"cos{step}", f"sin{step}"]
        names = [f"additivechi2sampler_{name}_{suffix}" for suffix in suffixes for name in inputs]
        return np.asarray(names, dtype=object)


class Nystroem(CoreNystroem):
    __doc__ = CoreNystroem.__doc__
    __module__ = "mercer.kernel_approximation"

    def _fit_rows(self, X: Any, sample_weight: Any) -> Self:
        given = [self.gamma, self.coef0, self.degree]
        if (callable(self.kernel) or self.kernel == "precomputed") and any(
            value is not None for value in given
        ):
            raise ValueError(
                "Don't pass gamma, coef0 or degree to Nystroem if using a callable or precomputed kernel"
            )
        return super()._fit_rows(X, sample_weight)


class RBFSampler(CoreRBFSampler):
    __doc__ = CoreRBFSampler.__doc__
    __module__ = "mercer.kernel_approximation"

    @property
    def _gamma(self) -> float:
        """The ``gamma`` that was used."""
        check_is_fitted(self)
        return self.gamma_
