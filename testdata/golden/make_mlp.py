"""Writes mlp.json: weights, losses and predictions of scikit-learn's multilayer perceptrons.

Run with numpy and scikit-learn installed: python make_mlp.py
"""

import json
import warnings
from pathlib import Path

import numpy as np
import sklearn
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier, MLPRegressor

rng = np.random.default_rng(21)
x = np.round(rng.normal(size=(18, 3)), 3)
codes = (x[:, 0] * x[:, 1] > 0).astype(int) + (x[:, 2] > 0.8)
numbers = np.round(np.column_stack([x.sum(axis=1), x[:, 0] * x[:, 2]]), 3)
weights = np.round(rng.uniform(0.2, 2, size=18), 2)

# The fits stop after a few iterations, so that the gradient is not zero and can be compared.
warnings.simplefilter("ignore", ConvergenceWarning)
cases = []
for kind, y, hidden, activation, weighted in [
    ("sides", codes % 2, [4], "relu", False),
    ("sides", codes % 2, [3, 2], "logistic", True),
    ("classes", codes, [4], "tanh", False),
    ("classes", codes, [], "identity", True),
    ("numbers", numbers[:, :1], [5], "relu", True),
    ("numbers", numbers, [4, 3], "tanh", False),
]:
    make = MLPRegressor if kind == "numbers" else MLPClassifier
    params = {"hidden_layer_sizes": hidden, "activation": activation, "alpha": 0.3}
    model = make(solver="lbfgs", max_iter=6, random_state=1, **params)
    model.fit(x, np.squeeze(y), sample_weight=weights if weighted else None)
    said = model.predict(x).reshape(18, -1) if kind == "numbers" else model.predict_proba(x)
    cases.append(
        {
            "kind": kind,
            "params": params,
            "weighted": weighted,
            "y": np.asarray(y).tolist(),
            "coefs": [c.tolist() for c in model.coefs_],
            "intercepts": [b.tolist() for b in model.intercepts_],
            "loss": model.loss_,
            "said": said.tolist(),
        }
    )

out = {
    "source": f"scikit-learn {sklearn.__version__}, neural_network",
    "tolerance": "1e-12: the same sums in another order",
    "x": x.tolist(),
    "weights": weights.tolist(),
    "cases": cases,
}
Path(__file__).with_name("mlp.json").write_text(json.dumps(out, indent=1) + "\n")
