"""The Python expressions of docs/mission.md are true."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "mission.md").read_text(encoding="utf-8")
PRELUDE = re.search(r"^```python\n(.*?)^```", PAGE, re.M | re.S)[1]


def expressions():
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)]
        if len(cells) != 8 or cells[1] in ("row", "---"):
            continue
        for expression in re.findall(r"`([^`]+)`", cells[5]):
            yield pytest.param(expression.replace("\\|", "|"), id=f"{cells[1]}: {expression[:60]}")


@pytest.fixture(scope="module")
def names():
    found = {}
    exec(compile(PRELUDE, "docs/mission.md", "exec"), found)
    return found


def test_the_page_has_a_row_for_everything():
    assert len(list(expressions())) >= 55


@pytest.mark.parametrize("expression", list(expressions()))
def test_the_expression_is_true(expression, names, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert eval(compile(expression, "docs/mission.md", "eval"), names)
