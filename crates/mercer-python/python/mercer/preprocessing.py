"""The estimators of ``preprocessing``.

Written by ``mercer generate`` from the declarations of the estimators; edit those.
"""

from typing import ClassVar

from .base import Transformer, sklearn_attributes

__all__ = ["PolynomialFeatures", "TableVectorizer"]


class PolynomialFeatures(Transformer):
    """Polynomial features: all monomials of the columns up to a degree.

    Formula::

        φ(x) = (1, x₁, …, xₙ, x₁², x₁x₂, …),  all monomials up to the degree

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
        Independent term of the polynomial kernel ``(gamma x·z + coef0)^degree``.

    Attributes
    ----------
    powers_ : ndarray of shape (n_output_features_, n_features)
        Exponent of each feature in each monomial.
    n_output_features_ : int
        Number of monomials.
    n_features_in_ : int
        Number of features of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if the training rows had names.
    certificate_ : dict
        How the fit ended: status, objective, duality gap, iterations, and a ``text`` that states
        them.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore; ``dir(model)``
    lists them.

    Examples
    --------
    >>> from mercer.preprocessing import PolynomialFeatures
    >>> X = [[0, 1], [1, 0], [4, 5], [5, 4]]
    >>> print(PolynomialFeatures().fit_transform(X).shape[0])
    4
    """

    _id = "polynomial-features"
    _inputs = ("sparse",)
    _fitted_attributes: ClassVar = {
        "powers_": (None, sklearn_attributes.powers),
        "n_output_features_": (None, sklearn_attributes.output_count_of_model),
    }

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


from .polynomial import PolynomialFeatures  # noqa: E402, F811
from .tables import TableVectorizer  # noqa: E402
