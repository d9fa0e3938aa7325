"""The Python examples of the README run as printed."""

import re
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[3] / "README.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.M | re.S)


def test_the_readme_has_python_examples():
    assert EXAMPLES


@pytest.mark.parametrize("example", EXAMPLES)
def test_example_of_the_readme_runs(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(example, str(README), "exec"), {})
