"""Writes maps.json: scikit-learn's polynomial features, and kernel ridge regression with several targets.

Run with numpy and scikit-learn installed: python make_maps.py
"""

import json
from pathlib import Path

import numpy as np
import sklearn
from sklearn.cluster import KMeans
from sklearn.kernel_ridge import KernelRidge
from sklearn.preprocessing import PolynomialFeatures

rng = np.random.default_rng(13)
x = np.round(rng.normal(size=(12, 4)), 3)
y = np.round(rng.normal(size=(12, 3)), 3)

products = []
for params in [
    {},
    {"degree": 3},
    {"degree": [2, 3], "include_bias": False},
    {"degree": 4, "interaction_only": True},
    {"degree": [0, 2], "interaction_only": True},
    {"degree": 1},
]:
    told = {k: tuple(v) if isinstance(v, list) else v for k, v in params.items()}
    model = PolynomialFeatures(**told).fit(x)
    products.append(
        {
            "params": params,
            "new": model.transform(x).tolist(),
            "names": model.get_feature_names_out(list("abcd")).tolist(),
        }
    )

ridge = KernelRidge(kernel="rbf", gamma=0.4, alpha=0.3).fit(x, y)

crowds = np.round(rng.normal(size=(60, 2)) + 5 * (np.arange(60) % 3)[:, None], 3)
means = KMeans(3, n_init=20, random_state=0, tol=0).fit(crowds)

golden = {
    "source": f"scikit-learn {sklearn.__version__}",
    "x": x.tolist(),
    "y": y.tolist(),
    "products": products,
    "ridge": {"gamma": 0.4, "alpha": 0.3, "coefficients": ridge.dual_coef_.T.tolist()},
    "k_means": {"x": crowds.tolist(), "labels": means.labels_.tolist(), "inertia": means.inertia_},
}
(Path(__file__).parent / "maps.json").write_text(json.dumps(golden) + "\n")
