"""Writes reference values of linear support vector machines, computed by scikit-learn's LIBLINEAR.

Run from the root of the repository, in any environment with the versions below:

    python -m venv golden && golden/bin/pip install scikit-learn==1.9.1 numpy==2.4.6
    golden/bin/python testdata/golden/make_linear_svm.py

Its tolerance is 1e-12, so that the values are those of the optimum as far as its iterations get there.
The objective is computed here from the weights.
"""

import json
import pathlib
import warnings

import numpy as np
import sklearn
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC, LinearSVR

HERE = pathlib.Path(__file__).parent


def rows():
    iris, kinds = load_iris(return_X_y=True)
    wine, makers = load_wine(return_X_y=True)
    wine = StandardScaler().fit_transform(wine).round(6)
    diabetes, numbers = load_diabetes(return_X_y=True)
    two = makers < 2
    sets = {
        "iris": (iris, kinds),
        "wine": (wine, makers),
        "wine, two classes": (wine[two], makers[two]),
        "diabetes": ((20 * diabetes[:150]).round(6), (numbers[:150] / 50).round(6)),
    }
    draw = np.random.default_rng(4)
    return {name: (x, y, draw.integers(0, 5, len(x)) / 2) for name, (x, y) in sets.items()}


def cases():
    for name in ("iris", "wine", "wine, two classes"):
        yield "linear-svc", name, {}, {}, False
        yield "linear-svc", name, {"C": 0.1, "class_weight": "balanced"}, {}, True
        yield "linear-svc", name, {"C": 10.0, "intercept_scaling": 3.0}, {"dual": False}, False
        yield "linear-svc", name, {"loss": "hinge", "C": 0.1}, {}, False
        yield "linear-svc", name, {"loss": "hinge", "fit_intercept": False}, {}, True
        yield "linear-svc", name, {"penalty": "l1", "C": 0.2}, {"dual": False}, False
        yield "linear-svc", name, {"multi_class": "crammer_singer", "C": 0.1}, {}, False
        yield "linear-svc", name, {"multi_class": "crammer_singer", "C": 0.2, "intercept_scaling": 2.0}, {}, True
        yield "linear-svc", name, {"multi_class": "crammer_singer", "C": 0.05, "fit_intercept": False}, {}, False
    for loss in ("epsilon_insensitive", "squared_epsilon_insensitive"):
        yield "linear-svr", "diabetes", {"loss": loss}, {}, False
        yield "linear-svr", "diabetes", {"loss": loss, "epsilon": 0.3, "C": 0.2}, {}, True
        yield "linear-svr", "diabetes", {"loss": loss, "epsilon": 0.1, "fit_intercept": False}, {}, False


def objective_together(params, x, y, weights, w, b):
    """The Crammer-Singer objective; the hyperplane of two classes is the difference of the two weight vectors."""
    if len(w) == 1:
        w, b = np.vstack([-w / 2, w / 2]), np.array([-b[0] / 2, b[0] / 2])
    places = np.arange(len(y))
    scores = x @ w.T + b + 1
    own = scores[places, y] - 1
    scores[places, y] = own
    squares = (w**2).sum() + ((b / params.get("intercept_scaling", 1.0)) ** 2).sum()
    return squares / 2 + params["C"] * weights @ (scores.max(axis=1) - own)


def objective(kind, params, x, y, weights, w, b):
    """The sum of the objectives of all one-vs-rest subproblems."""
    if "multi_class" in params:
        return objective_together(params, x, y, weights, w, b)
    price, total = params.get("C", 1.0), 0.0
    scaling = params.get("intercept_scaling", 1.0)
    for k, (w, b) in enumerate(zip(np.atleast_2d(w), np.atleast_1d(b))):
        scores = x @ w + b
        if kind == "linear-svr":
            distance = np.maximum(0, np.abs(y - scores) - params.get("epsilon", 0.0))
        else:
            own = y == (k if len(np.unique(y)) > 2 else 1)
            distance = np.maximum(0, 1 - np.where(own, scores, -scores))
        if params.get("loss", "squared_hinge").startswith("squared"):
            distance = distance**2
        counts = weights.copy()
        if "class_weight" in params:
            sums = np.array([weights[y == c].sum() for c in np.unique(y)])
            factors = (sums.sum() / (len(sums) * sums))[y]
            counts *= factors if len(sums) == 2 else np.where(own, factors, 1.0)
        if params.get("penalty") == "l1":
            total += np.abs(w).sum() + abs(b) / scaling
        else:
            total += (w @ w + (b / scaling) ** 2) / 2
        total += price * counts @ distance
    return total


def case(kind, name, params, theirs, weighted):
    x, y, weights = ROWS[name]
    make = LinearSVC if kind == "linear-svc" else LinearSVR
    model = make(tol=1e-12, max_iter=3_000_000, random_state=0, **params, **theirs)
    with warnings.catch_warnings(record=True):
        model.fit(x, y, sample_weight=weights if weighted else None)
    counts = weights if weighted else np.ones(len(x))
    b = np.broadcast_to(model.intercept_, np.atleast_2d(model.coef_).shape[:1])
    return {
        "kind": kind,
        "rows": name,
        "params": params,
        "weighted": weighted,
        "coefficients": np.atleast_2d(model.coef_).tolist(),
        "intercepts": b.tolist(),
        "objective": objective(kind, params, x, y, counts, model.coef_, b),
    }


ROWS = rows()
golden = {
    "source": f"scikit-learn {sklearn.__version__} (LIBLINEAR), tol=1e-12",
    "rows": [
        {"name": name, "x": x.tolist(), "y": y.tolist(), "weights": w.tolist()}
        for name, (x, y, w) in ROWS.items()
    ],
    "cases": [case(*some) for some in cases()],
}
text = json.dumps(golden, separators=(",", ":"))
for key in ('"kind":', '"name":'):
    text = text.replace("{" + key, "\n{" + key)
(HERE / "linear-svm.json").write_text(text + "\n")
