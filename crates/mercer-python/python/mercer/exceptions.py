"""Warnings of Mercer, and the error that carries a proof.

All other errors are Python's own: ValueError, TypeError, TimeoutError, MemoryError, OSError.
"""

from ._mercer import NotSeparableError

__all__ = [
    "ApproximationErrorWarning",
    "NotSeparableError",
    "TimeLimitWarning",
    "ZeroLikelihoodWarning",
]


class ApproximationErrorWarning(UserWarning):
    """A kernel approximation reached its maximum number of columns before the requested error."""


class TimeLimitWarning(UserWarning):
    """The time limit ended a fit; the model is that of the rows or iterations until then."""


class ZeroLikelihoodWarning(UserWarning):
    """Rows have likelihood zero in every class; they were predicted from the class priors alone."""
