"""Writes reference values of kernel approximation and kernel methods, computed by scikit-learn.

Run from the root of the repository, in any environment with the versions below:

    python -m venv golden && golden/bin/pip install scikit-learn==1.9.1 numpy==2.4.6
    golden/bin/python testdata/golden/make_kernel.py

scikit-learn's random draws are stored with the results, so that only the formulas are compared.
"""

import json
import pathlib

import numpy as np
import sklearn
from sklearn.decomposition import KernelPCA
from sklearn.kernel_approximation import (
    AdditiveChi2Sampler,
    Nystroem,
    PolynomialCountSketch,
    RBFSampler,
)
from sklearn.kernel_ridge import KernelRidge

HERE = pathlib.Path(__file__).parent
RNG = np.random.default_rng(12)
X = np.round(RNG.uniform(0.05, 2, (40, 5)), 4)
Y = np.round(np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * RNG.normal(size=40), 4)
WEIGHTS = np.round(RNG.uniform(0.5, 2, 40), 3)

fourier = RBFSampler(gamma=0.7, n_components=12, random_state=1).fit(X)
sketches = [
    PolynomialCountSketch(degree=d, gamma=g, coef0=c, n_components=m, random_state=2).fit(X)
    for d, g, c, m in [(2, 1.0, 0.0, 10), (3, 0.5, 1.0, 16), (1, 2.0, 0.5, 7)]
]
KERNELS = [
    {"kernel": "rbf", "gamma": 3.0},
    {"kernel": "rbf"},
    {"kernel": "poly", "gamma": 0.4, "coef0": 1.0, "degree": 2},
    {"kernel": "laplacian"},
    {"kernel": "chi2", "gamma": 1.0},
    {"kernel": "sigmoid", "gamma": 0.05, "coef0": 0.1},
    {"kernel": "linear"},
]


def nystroem(params):
    model = Nystroem(n_components=6, random_state=3, **params).fit(X)
    return {
        "params": params,
        "indices": model.component_indices_.tolist(),
        "new": model.transform(X).tolist(),
    }


def ridge(params, alpha, weighted):
    model = KernelRidge(alpha=alpha, **params).fit(X, Y, WEIGHTS if weighted else None)
    return {
        "params": {"alpha": alpha, **params},
        "weighted": weighted,
        "coefficients": model.dual_coef_.tolist(),
        "predict": model.predict(X).tolist(),
    }


def pca(params):
    model = KernelPCA(n_components=4, eigen_solver="dense", **params).fit(X)
    return {
        "params": {"n_components": 4, **params},
        "eigenvalues": model.eigenvalues_.tolist(),
        "new": model.transform(X).tolist(),
    }


golden = {
    "source": f"scikit-learn {sklearn.__version__}",
    "x": X.tolist(),
    "y": Y.tolist(),
    "weights": WEIGHTS.tolist(),
    "fourier": {
        "gamma": 0.7,
        "weights": fourier.random_weights_.tolist(),
        "offset": fourier.random_offset_.tolist(),
        "new": fourier.transform(X).tolist(),
    },
    # Six rows with five columns have a linear kernel of rank five; the last eigenvalue is rounding error.
    "nystroem": [nystroem(params) for params in KERNELS if params["kernel"] not in ("linear", "sigmoid")],
    "sketches": [
        {
            "gamma": s.gamma,
            "coef0": s.coef0,
            "positions": s.indexHash_.tolist(),
            "signs": s.bitHash_.tolist(),
            "n_components": s.n_components,
            "new": s.transform(X).tolist(),
        }
        for s in sketches
    ],
    "chi2": [
        {
            "params": params,
            "new": AdditiveChi2Sampler(**params).fit(X).transform(X).tolist(),
        }
        for params in [
            {"sample_steps": 1},
            {"sample_steps": 2},
            {"sample_steps": 3},
            {"sample_steps": 5, "sample_interval": 0.3},
        ]
    ],
    "ridge": [
        ridge(params, alpha, weighted)
        for params in KERNELS
        for alpha, weighted in [(0.5, False), (2.0, True)]
    ],
    "pca": [pca(params) for params in KERNELS if params["kernel"] not in ("laplacian", "chi2")],
}
(HERE / "kernel.json").write_text(json.dumps(golden) + "\n")
