"""Spark Connect: the same estimators through a client without a JVM."""

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest
from test_local_cluster import kill_group
from test_standalone import free_port, wait_for

HOME = Path(pyspark.__file__).parent


@pytest.fixture(scope="module")
def remote(tmp_path_factory):
    port, folder = free_port(), tmp_path_factory.mktemp("connect")
    environment = {
        **os.environ,
        "SPARK_NO_DAEMONIZE": "1",
        "SPARK_HOME": str(HOME),
        "SPARK_LOG_DIR": str(folder),
    }
    log = open(folder / "connect.log", "w")  # noqa: SIM115
    process = subprocess.Popen(
        [
            str(HOME / "sbin" / "start-connect-server.sh"),
            "--master",
            "local[2]",
            "--conf",
            "spark.connect.grpc.binding.address=127.0.0.1",
            "--conf",
            f"spark.connect.grpc.binding.port={port}",
            "--conf",
            "spark.driver.host=127.0.0.1",
            "--conf",
            "spark.ui.enabled=false",
        ],
        stdout=log,
        stderr=log,
        env=environment,
        start_new_session=True,
    )
    try:
        wait_for(port, 90)
        yield f"sc://127.0.0.1:{port}"
    finally:
        kill_group(process)


def test_the_suite_passes_through_connect(remote):
    chosen = (
        "gaussian or multinomial or two_classes or mixed or pipelines or empty or many_partitions or sparse"
        " or refused or share or linear_svc"
    )
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            str(Path(__file__).parent / "test_spark.py"),
            "-k",
            chosen,
            "-p",
            "no:cacheprovider",
            "-W",
            "ignore::FutureWarning",
            "-W",
            "ignore::UserWarning",
        ],
        env={**os.environ, "MERCER_SPARK_REMOTE": remote},
        capture_output=True,
        text=True,
        timeout=560,
    )
    assert done.returncode == 0, done.stdout[-5000:]
