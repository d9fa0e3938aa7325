"""``python -m mercer script.py``: runs an unchanged script for scikit-learn on Mercer."""

import argparse
import runpy
import sys
from pathlib import Path

from .patch import patch_sklearn, replaced_names, unpatch_sklearn


def main(arguments: list[str] | None = None) -> int:
    """Runs a script or module with scikit-learn's estimators replaced, and prints which were used."""
    parser = argparse.ArgumentParser(
        prog="python -m mercer",
        description="Runs a script written for scikit-learn on Mercer, without a change of its imports.",
        epilog="example: python -m mercer train.py --epochs 3",
    )
    parser.add_argument("-m", dest="is_module", action="store_true", help="run a module by name")
    parser.add_argument("-q", "--quiet", action="store_true", help="print no summary")
    parser.add_argument("script", help="the script, or the module with -m")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of the script")
    options = parser.parse_args(arguments)
    if not options.is_module and not Path(options.script).exists():
        parser.error(f"there is no file {options.script!r}; -m runs a module by name")
    patch_sklearn()
    used = _count_instances()
    before = sys.argv
    sys.argv = [options.script, *options.arguments]
    try:
        if options.is_module:
            runpy.run_module(options.script, run_name="__main__", alter_sys=True)
        else:
            sys.path.insert(0, str(Path(options.script).resolve().parent))
            runpy.run_path(options.script, run_name="__main__")
    finally:
        sys.argv = before
        unpatch_sklearn()
        if not options.quiet:
            print(_summary(used), file=sys.stderr)
    return 0


def _count_instances() -> dict[str, int]:
    """Counts the instances of every replaced class from now on, by its name in scikit-learn."""
    used: dict[str, int] = {}
    for path, ours in replaced_names().items():
        if isinstance(ours, type):
            ours.__init__ = _counting(ours.__init__, path, used)  # type: ignore[misc]
    return used


def _counting(init, path: str, used: dict[str, int]):  # type: ignore[no-untyped-def]
    import functools

    @functools.wraps(init)
    def counted(self, *args, **kwargs):  # type: ignore[no-untyped-def]
        used[path] = used.get(path, 0) + 1
        init(self, *args, **kwargs)

    return counted


def _summary(used: dict[str, int]) -> str:
    if not used:
        return "mercer: the script created no estimator that Mercer replaces"
    lines = [f"  {path}  ({n} instance{'s'[: n > 1]})" for path, n in sorted(used.items())]
    return "mercer: replaced\n" + "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
