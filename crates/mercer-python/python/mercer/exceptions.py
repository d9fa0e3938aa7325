"""What Mercer warns about.

Errors are Python's own: ValueError, TypeError, TimeoutError, MemoryError, OSError.
"""

__all__ = ["CutShortWarning", "ErrorNotReachedWarning"]


class CutShortWarning(UserWarning):
    """The time limit ended a fit; the model is of the rows learned until then."""


class ErrorNotReachedWarning(UserWarning):
    """A kernel map has all the columns it may have and is not as near to its kernel as was asked."""
