"""Writes reference values of cross-validated logistic regression, computed by scikit-learn.

Run from the root of the repository, in any environment with the versions below:

    python -m venv golden && golden/bin/pip install scikit-learn==1.9.1 numpy==2.4.6
    golden/bin/python testdata/golden/make_logistic_cv.py

The rows are those of `online.json`.
"""

import json
import pathlib
import warnings

import numpy as np
import sklearn
from sklearn.linear_model import LogisticRegressionCV

HERE = pathlib.Path(__file__).parent
ROWS = {
    rows["name"]: tuple(np.array(rows[k]) for k in ("x", "y", "weights"))
    for rows in json.loads((HERE / "online.json").read_text())["rows"]
}


def cases():
    for name in ("iris", "wine, two classes"):
        yield name, {}, False
        yield name, {"scoring": "neg_log_loss", "Cs": [0.01, 0.1, 1.0, 10.0], "cv": 3}, False
        yield name, {"scoring": "neg_log_loss", "Cs": 5, "class_weight": "balanced"}, True
        yield name, {"scoring": "neg_log_loss", "Cs": [0.1, 1.0], "refit": False}, False
        yield name, {"scoring": "neg_log_loss", "Cs": [0.1, 1.0], "l1_ratios": [0.2, 0.8], "cv": 3}, False


def case(name, params, weighted):
    x, y, weights = ROWS[name]
    theirs = {"l1_ratios": [0], "scoring": "accuracy", **params}
    solver = "saga" if "l1_ratios" in params else "newton-cg"
    tol = 1e-9 if solver == "saga" else 1e-11
    model = LogisticRegressionCV(
        solver=solver, tol=tol, max_iter=200_000, use_legacy_attributes=False, random_state=0, **theirs
    )
    with warnings.catch_warnings(record=True):
        model.fit(x, y, sample_weight=weights if weighted else None)
    return {
        "rows": name,
        "params": params,
        "weighted": weighted,
        "C": model.C_,
        "l1_ratio": model.l1_ratio_,
        "Cs": model.Cs_.tolist(),
        "scores": model.scores_.ravel().tolist(),
        "coefficients": model.coef_.tolist(),
        "intercepts": model.intercept_.tolist(),
    }


golden = {
    "source": f"scikit-learn {sklearn.__version__}, tol=1e-11, 1e-9 with an elastic-net penalty",
    "cases": [case(*some) for some in cases()],
}
text = json.dumps(golden, separators=(",", ":")).replace('{"rows":', '\n{"rows":')
(HERE / "logistic-cv.json").write_text(text + "\n")
