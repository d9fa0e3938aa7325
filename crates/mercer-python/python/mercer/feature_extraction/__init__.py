"""Feature extraction from raw data."""

from . import text

__all__ = ["text"]
