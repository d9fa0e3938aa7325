"""Random features of the skewed chi-squared kernel."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

__all__ = ["SkewedChi2Sampler"]


class SkewedChi2Sampler(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Random features of the skewed chi-squared kernel.

    Formula::

        k(x, z) = Πⱼ 2 √(xⱼ + c) √(zⱼ + c) / (xⱼ + zⱼ + 2c)

    The kernel is shift invariant in ``log(x + c)``, so that random Fourier features with frequencies from the
    hyperbolic secant distribution approximate it (Li, Ionescu & Sminchisescu 2010).

    Parameters
    ----------
    skewedness : float, default=1.0
        The constant ``c``.
    n_components : int >= 1, default=100
        Number of random features.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator.

    Attributes
    ----------
    random_weights_ : ndarray of shape (n_features, n_components)
        Frequencies.
    random_offset_ : ndarray of shape (n_components,)
        Phases.

    Examples
    --------
    >>> from mercer.kernel_approximation import SkewedChi2Sampler
    >>> SkewedChi2Sampler(n_components=3, random_state=0).fit_transform([[0.0, 1.0]]).shape
    (1, 3)
    """

    __module__ = "mercer.kernel_approximation"

    def __init__(self, *, skewedness=1.0, n_components=100, random_state=None):
        self.skewedness = skewedness
        self.n_components = n_components
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draws the frequencies and phases.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Training rows; only their number of columns and precision count.
        y : None
            Ignored; the parameter exists for pipelines.
        """
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        random = check_random_state(self.random_state)
        uniform = random.uniform(size=(X.shape[1], self.n_components))
        # The inverse of the distribution function of the hyperbolic secant distribution.
        weights = np.log(np.tan(np.pi / 2.0 * uniform)) / np.pi
        offsets = random.uniform(0, 2 * np.pi, size=self.n_components)
        self.random_weights_ = weights.astype(X.dtype, copy=False)
        self.random_offset_ = offsets.astype(X.dtype, copy=False)
        self._n_features_out = self.n_components
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The random features of rows whose values are above ``-skewedness``."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        if (-self.skewedness >= X).any():
            raise ValueError("X may not contain entries smaller than -skewedness.")
        projected = np.log(X + self.skewedness) @ self.random_weights_ + self.random_offset_
        features = np.cos(projected) * np.sqrt(2.0 / self.n_components)
        return features.astype(X.dtype, copy=False)
