#!/bin/sh
# Runs tests of mercer.spark in their environment; the package reaches the workers by PYTHONPATH.
set -e
cd "$(dirname "$0")/../../../.."
export PYSPARK_PYTHON="$PWD/.venv-spark/bin/python" PYTHONPATH="$PWD/crates/mercer-python/python" SPARK_LOCAL_IP=127.0.0.1
exec "$PYSPARK_PYTHON" -m pytest -q -p no:cacheprovider --durations=8 -W ignore::FutureWarning -W ignore::UserWarning "$@"
