"""Writes reference values of tree-augmented naive Bayes.

No library implements it with these tables, so they are computed here from the formulas of Friedman, Geiger &
Goldszmidt (1997), with scipy's spanning tree. Run from the root of the repository:

    python -m venv golden && golden/bin/pip install scipy==1.17.1 numpy==2.4.6
    golden/bin/python testdata/golden/make_tan.py
"""

import json
import pathlib

import numpy as np
import scipy
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

HERE = pathlib.Path(__file__).parent


def rows(n, width, n_classes, seed):
    """Columns that depend on the previous column and on the class."""
    random = np.random.default_rng(seed)
    y = random.integers(0, n_classes, n)
    x = np.zeros((n, width), dtype=int)
    x[:, 0] = (random.integers(0, 3, n) + (random.random(n) < 0.4) * y) % 3
    for j in range(1, width):
        copied = random.random(n) < 0.6
        x[:, j] = np.where(copied, x[:, (j - 1) // 2], (random.integers(0, 3, n) + y) % (2 + j % 3))
    return x, y


def shared(a, b, y):
    """I(a; b | y) in nats."""
    total = 0.0
    for c in np.unique(y):
        table = np.zeros((a.max() + 1, b.max() + 1))
        np.add.at(table, (a[y == c], b[y == c]), 1.0)
        p, n = table / table.sum(), table.sum()
        even = p.sum(1, keepdims=True) * p.sum(0, keepdims=True)
        seen = p > 0
        total += n / len(y) * (p[seen] * np.log(p[seen] / even[seen])).sum()
    return total


def case(name, x, y, alpha):
    width, n_classes = x.shape[1], y.max() + 1
    gains = np.array([[shared(x[:, i], x[:, j], y) if i < j else 0.0 for j in range(width)] for i in range(width)])
    tree = minimum_spanning_tree(-gains)
    _, before = breadth_first_order(tree, 0, directed=False)
    parents = [None if p < 0 else int(p) for p in before]
    log_joint = np.log(np.bincount(y) / len(y))[None, :].repeat(len(x), 0)
    for j, parent in enumerate(parents):
        k = x[:, j].max() + 1
        above = np.zeros(len(x), dtype=int) if parent is None else x[:, parent]
        for c in range(n_classes):
            counts = np.full((above.max() + 1, k), alpha)
            np.add.at(counts, (above[y == c], x[y == c, j]), 1.0)
            shares = counts / counts.sum(1, keepdims=True)
            log_joint[:, c] += np.log(shares[above, x[:, j]])
    some = list(range(0, len(x), max(1, len(x) // 20)))
    top = log_joint.max(1, keepdims=True)
    log_proba = log_joint - top - np.log(np.exp(log_joint - top).sum(1, keepdims=True))
    return {
        "rows": name,
        "params": {"alpha": alpha},
        "parents": parents,
        "some": some,
        "joint_log_likelihood": log_joint[some].tolist(),
        "log_proba": log_proba[some].tolist(),
    }


def main():
    tables = {"two classes": rows(150, 5, 2, 1), "four classes": rows(300, 8, 4, 2)}
    golden = {
        "source": f"formulas of Friedman, Geiger & Goldszmidt (1997); numpy {np.__version__}, scipy {scipy.__version__}",
        "tolerance": 1e-10,
        "rows": [
            {"name": name, "x": x.astype(float).tolist(), "y": y.tolist(), "weights": []}
            for name, (x, y) in tables.items()
        ],
        "cases": [case(name, x, y, alpha) for name, (x, y) in tables.items() for alpha in (1.0, 0.25)],
    }
    (HERE / "tan.json").write_text(json.dumps(golden, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
