"""How long a fit may take."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["time_limit"]

_seconds: ContextVar[float | None] = ContextVar("mercer_time_limit", default=None)


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Ends every fit inside the block after so many seconds.

    A fit whose time is up keeps what it has learned, says so in ``certificate_`` and warns with
    :class:`mercer.exceptions.CutShortWarning`. One that has learned nothing yet raises
    ``TimeoutError``.

    Examples
    --------
    >>> import mercer
    >>> from mercer.naive_bayes import GaussianNB
    >>> with mercer.time_limit(60):
    ...     model = GaussianNB().fit([[1.0], [2.0], [5.0], [6.0]], [0, 0, 1, 1])
    >>> model.certificate_["stopped"] is None
    True
    """
    if seconds is not None and not seconds >= 0:
        raise ValueError(f"a time limit is a number of seconds of at least zero, not {seconds!r}")
    before = _seconds.set(seconds)
    try:
        yield
    finally:
        _seconds.reset(before)


def seconds_left() -> float | None:
    """The limit in force, if any."""
    return _seconds.get()
