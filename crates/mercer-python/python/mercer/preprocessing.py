"""The estimators of ``preprocessing``.

Written by ``mercer generate`` from the catalog; changes belong there.
"""

from .base import Transformer

__all__ = ["PolynomialFeatures"]


class PolynomialFeatures(Transformer):
    """All products of columns up to a degree, written out.

    Parameters
    ----------
    degree : whole number or pair of them, default=2
        The largest degree of a product, or the smallest and the largest.
        It must be a number from 0 to 100.
    interaction_only : bool, default=False
        Whether no column may occur twice in a product.
    include_bias : bool, default=True
        Whether the product of no column, which is one, is there.
    order : {"C", "F"}, default="C"
        How Python's dense result lies in memory: row after row (``C``) or column after column
        (``F``).
    kernel : bool, default=False
        Whether products are multiplied by what makes inner products of new rows the kernel ``(gamma
        x·z + coef0)ᵈᵉᵍʳᵉᵉ``.
    gamma : float, default=1.0
        What inner products are multiplied by in that kernel.
        It must be a number of at least 0.
    coef0 : float, default=1.0
        The constant that is added to inner products in that kernel.
        It must be a number of at least 0.

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
