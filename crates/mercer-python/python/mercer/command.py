"""The console script ``mercer`` of the wheel: the command line in the same module as the Python classes."""

import signal
import sys

from . import _mercer

__all__ = ["main"]


def main() -> None:
    """Runs ``mercer`` with the arguments of the process, and ends it with the exit code of the command."""
    # The command has handlers of its own; Python's would wait for the end of the call.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_mercer.run_command(["mercer", *sys.argv[1:]]))
