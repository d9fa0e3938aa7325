"""Starts `mercer serve` on a free port of the loopback interface, with models trained by the command line."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
MERCER = os.environ.get("MERCER", str(ROOT / "target" / "debug" / "mercer"))
DATA = ROOT / "examples" / "data"
MODELS = {
    "iris": ("iris.csv", "species", "logistic"),
    "birds": ("penguins.csv", "species", "mixed-nb"),
    "mail": ("mail.tsv", "label", "multinomial-nb"),
    "width": ("iris.csv", "petal_width", "ols"),
}


@pytest.fixture(scope="session")
def address(tmp_path_factory):
    """The address of a running server, as host:port."""
    folder = tmp_path_factory.mktemp("models")
    paths = []
    for name, (table, target, estimator) in MODELS.items():
        path = folder / f"{name}.mercer"
        command = [MERCER, "train", str(DATA / table), "--target", target, "--model", estimator]
        subprocess.run([*command, "--out", str(path), "-q"], check=True, cwd=folder)
        paths.append(str(path))
    server = subprocess.Popen(
        [MERCER, "serve", *paths, "--listen", "127.0.0.1:0", "--json"],
        stdout=subprocess.PIPE,
        text=True,
    )
    lines = ""
    while True:
        lines += server.stdout.readline()
        try:
            started = json.loads(lines)
            break
        except json.JSONDecodeError:
            assert server.poll() is None, lines
    yield started["address"]
    server.terminate()
    assert server.wait(timeout=20) == 0
