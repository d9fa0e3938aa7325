"""Tests and modules of `mercer.spark` are collected only where PySpark is installed; see `make spark`."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("pyspark") else ["python/mercer/spark/*", "tests/spark/*"]
