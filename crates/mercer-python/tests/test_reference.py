"""The examples of the reference pages run, and the attributes that they document exist."""

import re
from pathlib import Path

import numpy as np
import pytest

import mercer

ROOT = Path(__file__).resolve().parents[3]
PAGES = sorted(p for p in (ROOT / "docs/reference").glob("*.md") if p.name != "README.md")


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def documented(page):
    section = page.read_text().partition("## Fitted attributes")[2].partition("\n## ")[0]
    return re.findall(r"^\| `(\w+_)`", section, re.MULTILINE)


def test_every_estimator_has_a_page():
    assert {page.stem for page in PAGES} == {card["id"] for card in mercer.catalog()}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_run_and_documented_attributes_exist(page, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    code = blocks(page)
    names = {}

    for block in code:
        exec(compile(block, str(page), "exec"), names)

    assert code
    assert capsys.readouterr().out
    model = names["model"]
    # The weights of a kernel expansion exist for a linear kernel only.
    expansion = getattr(model, "kernel", "linear") != "linear"
    for name in documented(page):
        if not (expansion and name == "coef_"):
            assert name in dir(model) or hasattr(model, name), name
            getattr(model, name)


def test_type_and_shape_of_attributes_of_a_support_vector_classifier():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [4.0, 4.0], [5.0, 5.0]])
    model = mercer.svm.SVC(kernel="linear").fit(X, [0, 0, 1, 1])

    assert model.coef_.shape == (1, 2)
    assert model.dual_coef_.shape == (1, len(model.support_))
    assert model.support_.dtype == np.int32
    assert np.array_equal(model.support_vectors_, X[model.support_])
    assert model.n_support_.sum() == len(model.support_)
