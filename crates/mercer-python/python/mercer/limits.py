"""How long a fit may take, and how much memory."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["memory_limit", "time_limit"]

_seconds: ContextVar[float | None] = ContextVar("mercer_time_limit", default=None)
_bytes: ContextVar[int | None] = ContextVar("mercer_memory_limit", default=None)


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
    >>> model.certificate_["converged"]
    True
    """
    if seconds is not None and not seconds >= 0:
        raise ValueError(f"a time limit is a number of seconds of at least zero, not {seconds!r}")
    before = _seconds.set(seconds)
    try:
        yield
    finally:
        _seconds.reset(before)


@contextmanager
def memory_limit(size: float | None) -> Iterator[None]:
    """Lets every fit inside the block take so many bytes at most, beside the rows it is given.

    A fit that has a way with less memory takes it; one that has none raises ``MemoryError``, saying how
    much it needs and what to do instead.

    Examples
    --------
    >>> import mercer
    >>> from mercer.kernel_ridge import KernelRidge
    >>> with mercer.memory_limit(1e9):
    ...     model = KernelRidge().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0])
    >>> print(model.certificate_["plan"]["strategy"])
    a factor of the kernel matrix in double precision
    """
    if size is not None and not size >= 0:
        raise ValueError(f"a memory limit is a number of bytes of at least zero, not {size!r}")
    before = _bytes.set(None if size is None else int(min(size, 2**63)))
    try:
        yield
    finally:
        _bytes.reset(before)


def seconds_left() -> float | None:
    """The limit in force, if any."""
    return _seconds.get()


def bounds(
    tell: Callable[[str], None] | None = None,
    threads: int | None = None,
) -> tuple[float | None, int | None, Callable[[str], None] | None, int | None]:
    """The limits in force, what is told the plan and progress of a fit, and how many threads it takes."""
    return _seconds.get(), _bytes.get(), tell, threads
