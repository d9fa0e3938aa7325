"""The coefficient table and the fit statistics of a linear regression."""

from typing import Any

__all__ = ["Summary"]


class Summary:
    """The summary of a linear regression. ``print`` shows a table; the values are attributes.

    Attributes
    ----------
    estimates : list of dict
        One entry per coefficient, the intercept first: ``name``, ``value``, ``error`` (standard error),
        ``t``, ``p``, and the ends ``low`` and ``high`` of the confidence interval.
    level : float
        Confidence level of the intervals.
    residual_error : float
        Residual standard error.
    degrees_of_freedom : float
        Residual degrees of freedom.
    r_squared, adjusted_r_squared : float
        Coefficient of determination, and its value adjusted for the number of coefficients.
    f, f_p : float
        F statistic of the whole regression, and its p-value.
    """

    def __init__(self, values: dict[str, Any], text: str) -> None:
        self.__dict__.update(values)
        self._values = values
        self._text = text

    def to_dict(self) -> dict[str, Any]:
        """All values as a dictionary that JSON can express."""
        return self._values

    def __repr__(self) -> str:
        return f"<Summary: R2 {self._values['r_squared']:.4g}>"

    def __str__(self) -> str:
        return self._text
