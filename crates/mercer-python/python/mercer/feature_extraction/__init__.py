"""From raw data to numbers."""

from . import text

__all__ = ["text"]
