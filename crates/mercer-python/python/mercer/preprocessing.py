"""The estimators of ``preprocessing``.

Written by ``mercer generate`` from the catalog; changes belong there.
"""

from .base import Transformer

__all__ = ["PolynomialFeatures"]


class PolynomialFeatures(Transformer):
    """Polynomial features: all monomials of the columns up to a degree.

    Parameters
    ----------
    degree : int in [0, 100] or pair of int, default=2
        Maximum degree of the monomials, or a pair of their minimum and maximum degree.
    interaction_only : bool, default=False
        Omit powers: only products of distinct columns.
    include_bias : bool, default=True
        Include the monomial of degree zero, a column of ones.
    order : {"C", "F"}, default="C"
        Memory layout of the dense result in Python: row-major (``C``) or column-major (``F``).
    kernel : bool, default=False
        Scale the monomials such that inner products of the features equal the polynomial kernel
        ``(gamma x·z + coef0)ᵈᵉᵍʳᵉᵉ``.
    gamma : float >= 0, default=1.0
        Coefficient of the inner product in the polynomial kernel.
    coef0 : float >= 0, default=1.0
        Constant term of the polynomial kernel.

    Attributes
    ----------
    n_features_in_ : int
        How many columns a row has.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the rows came with names.
    certificate_ : dict
        How the fit ended and how far from the best it can be.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore, and
    scikit-learn's names for them work too; ``dir(model)`` lists both.
    """

    _id = "polynomial-features"
    _inputs = ("sparse",)

    def __init__(
        self,
        degree=2,
        *,
        interaction_only=False,
        include_bias=True,
        order="C",
        kernel=False,
        gamma=1.0,
        coef0=1.0,
    ):
        self.degree = degree
        self.interaction_only = interaction_only
        self.include_bias = include_bias
        self.order = order
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
