"""A regression at a glance: coefficients with their errors, and how well all of it fits."""

from typing import Any

__all__ = ["Summary"]


class Summary:
    """The table of a regression. ``print`` it to read it; the numbers are attributes.

    Attributes
    ----------
    estimates : list of dict
        One a coefficient, the constant term first: ``name``, ``value``, ``error``, ``t``, ``p``,
        ``low`` and ``high``.
    level : float
        How sure the intervals from ``low`` to ``high`` are.
    residual_error : float
        The standard error of a residual.
    degrees_of_freedom : float
        Rows less what was fitted to them.
    r_squared, adjusted_r_squared : float
        The share of the variance that is explained, as it is and with chance taken off.
    f, f_p : float
        The F statistic of all columns together, and its p-value.
    """

    def __init__(self, told: dict[str, Any], text: str) -> None:
        self.__dict__.update(told)
        self._told = told
        self._text = text

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values, ready for JSON."""
        return self._told

    def __repr__(self) -> str:
        return f"<Summary: R2 {self._told['r_squared']:.4g}>"

    def __str__(self) -> str:
        return self._text
