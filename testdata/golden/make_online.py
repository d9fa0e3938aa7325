"""Writes reference values of the SGD family, computed by scikit-learn without shuffling.

Run from the root of the repository, in any environment with the versions below:

    python -m venv golden && golden/bin/pip install scikit-learn==1.9.1 numpy==2.4.6
    golden/bin/python testdata/golden/make_online.py

Rows are not shuffled, so that both make the same updates. scikit-learn computes the norm of the weights from the
cells of the last row only (sparse rows), or before the L1 penalty is applied; in these cases the number of epochs is fixed
(`tol=None`). Averages over batches have no intercept, because scikit-learn loses it between two batches.
"""

import json
import pathlib
import warnings

import numpy as np
import scipy.sparse
import sklearn
from sklearn import linear_model
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

HERE = pathlib.Path(__file__).parent
KINDS = {
    "perceptron": "Perceptron",
    "sgd": "SGDClassifier",
    "sgd-regressor": "SGDRegressor",
    "passive-aggressive": "PassiveAggressiveClassifier",
    "passive-aggressive-regressor": "PassiveAggressiveRegressor",
}


def rows():
    iris, kinds = load_iris(return_X_y=True)
    wine, makers = load_wine(return_X_y=True)
    diabetes, numbers = load_diabetes(return_X_y=True)
    wine = StandardScaler().fit_transform(wine).round(3)
    two = makers < 2
    # About half of the cells are zero.
    thin = np.where(np.abs(wine) < 0.6, 0.0, wine)
    draw = np.random.default_rng(4)
    sets = {
        "iris": (StandardScaler().fit_transform(iris).round(3), kinds),
        "wine": (thin, makers),
        "wine, two classes": (wine[two], makers[two]),
        "diabetes": ((20 * diabetes[:120]).round(3), (numbers[:120] / 50).round(3)),
    }
    mixed = {name: (draw.permutation(len(x)), x, y) for name, (x, y) in sets.items()}
    return {
        name: (x[order], y[order], draw.integers(1, 5, len(x)) / 2)
        for name, (order, x, y) in mixed.items()
    }


def cases():
    """Kind, data set, parameters, weighted, sparse, number of batches."""
    some = {"tol": None, "max_iter": 12}
    for name in ("iris", "wine, two classes"):
        yield "perceptron", name, {}, False, False, False
        yield "perceptron", name, {"eta0": 0.1, "fit_intercept": False, "max_iter": 30}, True, False, False
        yield "perceptron", name, {"penalty": "l2", "alpha": 0.01, "max_iter": 40}, False, False, False
        yield "perceptron", name, {"class_weight": "balanced", **some}, True, False, False
        yield "perceptron", name, {"penalty": "l1", "alpha": 0.001, **some}, False, False, False
        yield "perceptron", name, {"penalty": "elasticnet", "alpha": 0.01, "l1_ratio": 0.4, **some}, False, False, False
        for loss in ("hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron"):
            yield "sgd", name, {"loss": loss, "alpha": 0.01}, False, False, False
            yield "sgd", name, {"loss": loss, "average": True, "alpha": 0.01}, True, False, False
        for loss in ("squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive"):
            yield "sgd", name, {"loss": loss, "learning_rate": "invscaling"}, False, False, False
        yield "sgd", name, {"learning_rate": "constant", "average": 40}, False, False, False
        yield "sgd", name, {"learning_rate": "adaptive", "eta0": 0.1, "loss": "log_loss"}, False, False, False
        yield "sgd", name, {"learning_rate": "invscaling", "power_t": 0.3, "penalty": "none"}, False, False, False
        yield "sgd", name, {"penalty": "l1", "alpha": 0.01, **some}, False, False, False
        yield "sgd", name, {"penalty": "elasticnet", "alpha": 0.01, "loss": "log_loss", **some}, False, False, False
        yield "sgd", name, {"learning_rate": "pa1", "eta0": 0.2, "penalty": "none"}, False, False, False
        yield "sgd", name, {"learning_rate": "pa2", "eta0": 0.2, "alpha": 0.001}, False, False, False
        yield "sgd", name, {"loss": "log_loss", "average": True, "fit_intercept": False}, True, False, True
        yield "sgd", name, {"loss": "log_loss"}, True, False, True
        for loss in ("hinge", "squared_hinge"):
            yield "passive-aggressive", name, {"loss": loss, "C": 0.05}, False, False, False
            yield "passive-aggressive", name, {"loss": loss, "average": True, **some}, False, False, False
    for kind, params in (
        ("perceptron", {}),
        ("sgd", {}),
        ("sgd", {"loss": "log_loss", "average": True}),
        ("sgd", {"penalty": "l1", "alpha": 0.005}),
        ("passive-aggressive", {"C": 0.1}),
    ):
        yield kind, "wine", {**params, **some}, False, True, False
    yield "perceptron", "wine", {}, False, True, True
    for loss in ("squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive"):
        yield "sgd-regressor", "diabetes", {"loss": loss}, False, False, False
        yield "sgd-regressor", "diabetes", {"loss": loss, "average": True, "epsilon": 0.3}, True, False, False
    yield "sgd-regressor", "diabetes", {"learning_rate": "adaptive", "tol": 0.01}, False, False, False
    yield "sgd-regressor", "diabetes", {"learning_rate": "optimal", "alpha": 0.1, **some}, False, False, False
    yield "sgd-regressor", "diabetes", {"penalty": "l1", "alpha": 0.05, **some}, False, False, False
    yield "sgd-regressor", "diabetes", {"penalty": "elasticnet", "alpha": 0.05, **some}, False, True, False
    yield "sgd-regressor", "diabetes", {"learning_rate": "pa1", "loss": "epsilon_insensitive", **some}, False, False, False
    yield "sgd-regressor", "diabetes", {"average": 30}, False, False, True
    for loss in ("epsilon_insensitive", "squared_epsilon_insensitive"):
        yield "passive-aggressive-regressor", "diabetes", {"loss": loss, "C": 0.02}, False, False, False
        yield "passive-aggressive-regressor", "diabetes", {"loss": loss, "epsilon": 0.5, **some}, False, False, False


def case(kind, name, params, weighted, sparse, parts):
    x, y, weights = ROWS[name]
    theirs = {k: None if v == "none" else v for k, v in params.items()}
    model = getattr(linear_model, KINDS[kind])(shuffle=False, **theirs)
    counts = {"sample_weight": weights} if weighted else {}
    cells = scipy.sparse.csr_matrix(x) if sparse else x
    with warnings.catch_warnings(record=True):
        if parts:
            for first in range(0, len(x), 50):
                part = slice(first, first + 50)
                more = {} if "regressor" in kind else {"classes": np.unique(y)}
                more |= {k: v[part] for k, v in counts.items()}
                model.partial_fit(cells[part], y[part], **more)
        else:
            model.fit(cells, y, **counts)
    proba = params.get("loss") in ("log_loss", "modified_huber") and kind == "sgd"
    return {
        "kind": kind,
        "rows": name,
        "params": params,
        "weighted": weighted,
        "sparse": sparse,
        "parts": parts,
        "coefficients": np.atleast_2d(model.coef_).tolist(),
        "intercepts": np.broadcast_to(model.intercept_, np.atleast_2d(model.coef_).shape[:1]).tolist(),
        "n_iter": int(model.n_iter_),
        "t": int(model.t_),
        "proba": model.predict_proba(cells[:10]).tolist() if proba else None,
    }


ROWS = rows()
golden = {
    "source": f"scikit-learn {sklearn.__version__}, shuffle=False",
    "rows": [
        {"name": name, "x": x.tolist(), "y": y.tolist(), "weights": w.tolist()}
        for name, (x, y, w) in ROWS.items()
    ],
    "cases": [case(*some) for some in cases()],
}
text = json.dumps(golden, separators=(",", ":"))
for key in ('"kind":', '"name":'):
    text = text.replace("{" + key, "\n{" + key)
(HERE / "online.json").write_text(text + "\n")
