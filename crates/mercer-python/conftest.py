"""Tests and modules of `mercer.spark` are collected only where PySpark is installed; see `make spark`."""

from importlib.util import find_spec

# Two files of this name are not collected for doctests.
collect_ignore_glob = ["conftest.py"]
if find_spec("pyspark") is None:
    collect_ignore_glob += ["python/mercer/spark/*", "tests/spark/*"]
