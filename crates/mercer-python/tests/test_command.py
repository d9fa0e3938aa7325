"""The console script of the wheel."""

import subprocess
import sys
from pathlib import Path

import mercer

ROOT = Path(__file__).parents[3]


def run(*arguments):
    code = "from mercer.command import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True
    )


def test_command_trains_a_model_that_python_loads(tmp_path):
    path = tmp_path / "iris.mercer"

    trained = run(
        "train", "examples/data/iris.csv", "--target", "species", "--model", "gaussian-nb",
        "--out", str(path),
    )  # fmt: skip

    assert trained.returncode == 0, trained.stderr
    assert type(mercer.load(path)).__name__ == "GaussianNB"


def test_exit_codes_and_messages_are_those_of_the_binary():
    missing = run("inspect", "no-such-file.mercer")
    wrong = run("no-such-command")

    assert missing.returncode != 0
    assert "no-such-file.mercer" in missing.stderr
    assert wrong.returncode == 2
    assert "Usage: mercer" in wrong.stderr
    assert run("--version").stdout.startswith("mercer ")
