"""What Mercer warns about.

Errors are Python's own: ValueError, TypeError, TimeoutError, MemoryError, OSError.
"""

__all__ = ["CutShortWarning"]


class CutShortWarning(UserWarning):
    """The time limit ended a fit; the model is of the rows learned until then."""
