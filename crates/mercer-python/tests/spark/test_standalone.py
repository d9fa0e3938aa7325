"""A standalone master with two workers on loopback."""

import os
import socket
import subprocess
import time
from pathlib import Path

import pyspark
import pytest
from test_local_cluster import kill_group, run_script

SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"


def wait_for(port, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.5)
    raise TimeoutError(f"nothing listens on port {port}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def master(tmp_path_factory):
    folder = tmp_path_factory.mktemp("standalone")
    port = free_port()
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_WORKER_DIR": str(folder)}
    started = []

    def start(name, *arguments):
        log = open(folder / f"{len(started)}.log", "w")  # noqa: SIM115
        command = [str(SPARK_CLASS), name, "--host", "127.0.0.1", *arguments]
        started.append(
            subprocess.Popen(
                command, stdout=log, stderr=log, env=environment, start_new_session=True
            )
        )

    try:
        ui = str(free_port())
        start("org.apache.spark.deploy.master.Master", "--port", str(port), "--webui-port", ui)
        wait_for(port)
        url = f"spark://127.0.0.1:{port}"
        for _ in range(2):
            ui = str(free_port())
            worker = "org.apache.spark.deploy.worker.Worker"
            start(worker, "-c", "1", "-m", "1g", "--webui-port", ui, url)
        time.sleep(8)
        yield url
    finally:
        for process in reversed(started):
            kill_group(process)


def test_two_workers(master, tmp_path):
    assert "SAME BITS converged 60000" in run_script(tmp_path, master, "keep")
