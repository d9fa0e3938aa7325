"""Writes reference values of support vector machines, computed by scikit-learn's LIBSVM.

Run from the root of the repository, in any environment with the versions below:

    python -m venv golden && golden/bin/pip install scikit-learn==1.9.1 numpy==2.4.6
    golden/bin/python testdata/golden/make_svm.py

Its tolerance is 1e-10, so that the values are those of the optimum.
"""

import json
import pathlib

import numpy as np
import sklearn
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

HERE = pathlib.Path(__file__).parent
KINDS = {"svc": SVC, "nu-svc": NuSVC, "svr": SVR, "nu-svr": NuSVR, "one-class-svm": OneClassSVM}


def rows():
    x, y = load_iris(return_X_y=True)
    wine, kinds = load_wine(return_X_y=True)
    wine = StandardScaler().fit_transform(wine)
    diabetes, numbers = load_diabetes(return_X_y=True)
    weights = np.round(np.random.default_rng(4).uniform(0.5, 2, 150), 3)
    two = kinds < 2
    return {
        "iris": (x, y, weights),
        "wine": (wine[two], kinds[two], None),
        "diabetes": (10 * diabetes[:120], numbers[:120] / 50, None),
    }


CASES = [
    ("svc", "iris", {"C": 1.0}, False),
    ("svc", "iris", {"C": 10.0, "gamma": "auto"}, True),
    ("svc", "iris", {"C": 1.0, "kernel": "linear", "decision_function_shape": "ovo"}, False),
    ("svc", "wine", {"C": 0.5, "gamma": 0.1}, False),
    ("svc", "wine", {"C": 2.0, "kernel": "poly", "degree": 2, "gamma": 0.2, "coef0": 1.0}, False),
    ("svc", "wine", {"C": 1.0, "class_weight": "balanced"}, False),
    ("nu-svc", "iris", {"nu": 0.3}, False),
    ("nu-svc", "wine", {"nu": 0.2, "gamma": 0.05}, False),
    ("svr", "diabetes", {"C": 3.0, "epsilon": 0.2}, False),
    ("svr", "diabetes", {"C": 1.0, "kernel": "linear"}, False),
    ("nu-svr", "diabetes", {"C": 3.0, "nu": 0.4}, False),
    ("one-class-svm", "iris", {"nu": 0.2, "gamma": 0.3}, False),
]


def case(kind, name, params, weighted):
    x, y, weights = ROWS[name]
    model = KINDS[kind](tol=1e-10, **params)
    model.fit(x, None if kind == "one-class-svm" else y, sample_weight=weights if weighted else None)
    decide = model.predict if kind.endswith("svr") else model.decision_function
    decisions = decide(x)
    return {
        "kind": kind,
        "rows": name,
        "params": params,
        "weighted": weighted,
        "decisions": np.atleast_2d(decisions.T).T.tolist(),
        "intercept": model.intercept_.tolist(),
        "coefficient_sums": np.abs(model.dual_coef_).sum(axis=1).tolist(),
        "predict": model.predict(x).tolist(),
    }


ROWS = rows()
golden = {
    "source": f"scikit-learn {sklearn.__version__} (LIBSVM), tol=1e-10",
    "rows": [
        {"name": n, "x": x.tolist(), "y": np.asarray(y, float).tolist(), "weights": [] if w is None else w.tolist()}
        for n, (x, y, w) in ROWS.items()
    ],
    "cases": [case(*c) for c in CASES],
}
(HERE / "svm.json").write_text(json.dumps(golden) + "\n")
