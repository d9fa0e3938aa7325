"""Limits of the time and memory of a fit."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["memory_limit", "time_limit"]

_seconds: ContextVar[float | None] = ContextVar("mercer_time_limit", default=None)
_bytes: ContextVar[int | None] = ContextVar("mercer_memory_limit", default=None)


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Limits the time of every fit inside the block, in seconds.

    A fit that reaches the limit returns the model of that moment, records this in ``certificate_`` and
    warns with :class:`mercer.exceptions.TimeLimitWarning`. If there is no model yet, it raises
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
        raise ValueError(f"seconds is {seconds!r}; a time limit must be at least 0")
    before = _seconds.set(seconds)
    try:
        yield
    finally:
        _seconds.reset(before)


@contextmanager
def memory_limit(size: float | None) -> Iterator[None]:
    """Limits the memory of every fit inside the block, in bytes, not counting the training rows.

    A fit chooses an algorithm that fits into the limit. If there is none, it raises ``MemoryError`` with
    the memory it needs and a remedy.

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
        raise ValueError(f"size is {size!r}; a memory limit must be at least 0")
    before = _bytes.set(None if size is None else int(min(size, 2**63)))
    try:
        yield
    finally:
        _bytes.reset(before)


def current_time_limit() -> float | None:
    """The time limit of the enclosing block in seconds, or ``None``."""
    return _seconds.get()


def current_limits(
    report: Callable[[str], None] | None = None,
    n_threads: int | None = None,
) -> tuple[float | None, int | None, Callable[[str], None] | None, int | None]:
    """The limits of a fit in the form of the extension module: seconds, bytes, the function that gets
    lines of plan and progress, and the number of threads."""
    return _seconds.get(), _bytes.get(), report, n_threads
