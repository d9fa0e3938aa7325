"""Writes reference values of naive Bayes, linear models and discriminant analysis, computed by scikit-learn.

Run from the root of the repository, in any environment with the versions below:

    python -m venv golden && golden/bin/pip install scikit-learn==1.9.1 numpy==2.4.6
    golden/bin/python testdata/golden/make.py

The files are stored in the repository, so the tests do not need scikit-learn.
"""

import json
import pathlib

import numpy as np
import sklearn
from sklearn.datasets import load_iris, load_wine
from sklearn.covariance import OAS
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB

HERE = pathlib.Path(__file__).parent


def mixed_scales():
    """Columns whose standard deviations differ by twelve orders of magnitude."""
    random = np.random.default_rng(20240)
    y = random.integers(0, 4, 60)
    scales = 10.0 ** np.array([-6, -3, 0, 2, 6])
    x = (random.normal(size=(60, 5)) + 0.7 * y[:, None]) * scales + 5 * scales
    return x, y


def gaussian_case(rows, params, weighted=False):
    x, y, weights = rows["x"], rows["y"], rows["weights"] if weighted else None
    model = GaussianNB(**params).fit(x, y, sample_weight=weights)
    some = list(range(0, len(x), len(x) // 20))
    return {
        "rows": rows["name"],
        "params": params,
        "weighted": weighted,
        "theta": model.theta_.tolist(),
        "var": model.var_.tolist(),
        "class_prior": model.class_prior_.tolist(),
        "predict": model.predict(x).tolist(),
        "some": some,
        "joint_log_likelihood": model.predict_joint_log_proba(x[some]).tolist(),
        "log_proba": model.predict_log_proba(x[some]).tolist(),
    }


def gaussian_cases(rows):
    n_classes = rows["y"].max() + 1
    priors = (np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum()).tolist()
    yield gaussian_case(rows, {})
    yield gaussian_case(rows, {"var_smoothing": 1e-3})
    yield gaussian_case(rows, {"priors": priors})
    # scikit-learn smooths by the unweighted variance, so weighted cases use no smoothing.
    yield gaussian_case(rows, {"var_smoothing": 0.0}, weighted=True)
    yield gaussian_case(rows, {"var_smoothing": 0.0, "priors": priors}, weighted=True)


def discriminant_case(rows, estimator, params, theirs=None):
    """``theirs`` are scikit-learn's names of our parameters, where they differ."""
    x, y = rows["x"], rows["y"]
    model = estimator(**(params if theirs is None else theirs)).fit(x, y)
    some = list(range(0, len(x), len(x) // 20))
    linear = estimator is LinearDiscriminantAnalysis
    case = {
        "rows": rows["name"],
        "params": params,
        "means": model.means_.tolist(),
        "priors": model.priors_.tolist(),
        "predict": model.predict(x).tolist(),
        "some": some,
        "decision": np.atleast_2d(model.decision_function(x[some])).tolist(),
        "proba": model.predict_proba(x[some]).tolist(),
        "covariances": np.array(model.covariance_).tolist(),
    }
    if linear and hasattr(model, "scalings_"):
        # The sign of an axis is arbitrary.
        case["transform"] = np.abs(model.transform(x[some])).tolist()
        case["explained_variance_ratio"] = model.explained_variance_ratio_.tolist()
    return case


def increasing(rows):
    n_classes = rows["y"].max() + 1
    return (np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum()).tolist()


def lda_cases(rows):
    def case(params, theirs=None):
        theirs = {**params, **(theirs or {}), "store_covariance": True}
        return discriminant_case(rows, LinearDiscriminantAnalysis, params, theirs)

    yield case({})
    yield case({"priors": increasing(rows)})
    yield case({"solver": "lsqr", "shrinkage": 0.2})
    yield case({"solver": "lsqr", "shrinkage": "auto"})
    oas = {"shrinkage": None, "covariance_estimator": OAS()}
    yield case({"solver": "lsqr", "shrinkage": "oas"}, oas)


def qda_cases(rows):
    def case(params, theirs=None):
        # scikit-learn treats columns of small scale as singular; the tolerance prevents it.
        theirs = {**params, **(theirs or {}), "store_covariance": True, "tol": 0.0}
        return discriminant_case(rows, QuadraticDiscriminantAnalysis, params, theirs)

    yield case({})
    yield case({"priors": increasing(rows)})
    yield case({"reg_param": 0.1})
    yield case({"solver": "eigen", "shrinkage": 0.2})
    yield case({"solver": "eigen", "shrinkage": "auto"})
    oas = {"shrinkage": None, "covariance_estimator": OAS()}
    yield case({"solver": "eigen", "shrinkage": "oas"}, oas)


def real_rows():
    """Numeric data sets, each with its own sample weights."""
    sets = {
        "iris": load_iris(return_X_y=True),
        "wine": load_wine(return_X_y=True),
        "mixed scales": mixed_scales(),
    }
    for name, (x, y) in sets.items():
        weights = np.random.default_rng(7).integers(0, 5, len(x)) / 2 + 0.25
        yield {"name": name, "x": x, "y": y, "weights": weights}


def write(name, rows, cases):
    rows = list(rows)
    golden = {
        "source": f"scikit-learn {sklearn.__version__}, numpy {np.__version__}",
        "tolerance": 1e-9,
        "rows": rows,
        "cases": [case for some in rows for case in cases(some)],
    }
    text = json.dumps(golden, separators=(",", ":"), default=np.ndarray.tolist)
    # One line per case, so that differences are readable.
    for key in ('"rows":', '"name":'):
        text = text.replace("{" + key, "\n{" + key)
    (HERE / name).write_text(text + "\n")


def linear_case(rows, name, params, weighted):
    weights = rows["weights"] if weighted else None
    model = {"ols": LinearRegression, "ridge": Ridge}[name](**params)
    model.fit(rows["x"], rows["y"], sample_weight=weights)
    return {
        "rows": rows["name"],
        "estimator": name,
        "params": params,
        "weighted": weighted,
        "coefficients": model.coef_.tolist(),
        "intercept": float(model.intercept_),
        "predict": model.predict(rows["x"]).tolist(),
    }


def linear_cases(rows):
    for weighted in (False, True):
        for fit_intercept in (True, False):
            yield linear_case(rows, "ols", {"fit_intercept": fit_intercept}, weighted)
            for alpha in (0.01, 1.0, 100.0):
                params = {"alpha": alpha, "fit_intercept": fit_intercept}
                yield linear_case(rows, "ridge", params, weighted)


def measured_rows():
    """Regression data sets; the last column is the target."""
    for rows in real_rows():
        if rows["name"] != "mixed scales":
            x = rows["x"]
            yield {**rows, "x": x[:, :-1], "y": x[:, -1]}


def logistic_case(rows, params, theirs, weighted):
    weights = rows["weights"] if weighted else None
    x = standardized(rows["x"])
    model = LogisticRegression(**theirs, tol=1e-12, max_iter=200_000).fit(x, rows["y"], weights)
    some = list(range(0, len(x), len(x) // 20))
    return {
        "rows": rows["name"],
        "params": params,
        "weighted": weighted,
        "coefficients": model.coef_.tolist(),
        "intercepts": model.intercept_.tolist(),
        "some": some,
        "proba": model.predict_proba(x[some]).tolist(),
    }


def standardized(x):
    return (x - x.mean(axis=0)) / x.std(axis=0)


def logistic_cases(rows):
    newton, saga = {"solver": "newton-cholesky"}, {"solver": "saga", "random_state": 0}
    for weighted in (False, True):
        for c in (0.01, 1.0, 100.0):
            yield logistic_case(rows, {"C": c}, {"C": c, **newton}, weighted)
        yield logistic_case(
            rows, {"fit_intercept": False}, {"fit_intercept": False, **newton}, weighted
        )
    balanced = {"class_weight": "balanced"}
    yield logistic_case(rows, balanced, {**balanced, **newton}, False)
    for ratio in (1.0, 0.3):
        params = {"penalty": "elasticnet", "l1_ratio": ratio, "C": 0.1}
        yield logistic_case(rows, params, {"l1_ratio": ratio, "C": 0.1, **saga}, False)


def two_of_three(rows):
    """The same data sets, and the rows of two classes only."""
    for one in rows:
        if one["name"] != "mixed scales":
            yield one
            keep = one["y"] < 2
            parts = {key: one[key][keep] for key in ("x", "y", "weights")}
            yield {**one, **parts, "name": one["name"] + ", two classes"}


write("gaussian-nb.json", real_rows(), gaussian_cases)
write("linear.json", measured_rows(), linear_cases)
for name, cases in [("lda.json", lda_cases), ("qda.json", qda_cases)]:
    # scikit-learn cannot invert the covariance of columns that differ by twelve orders of magnitude.
    write(name, [rows for rows in real_rows() if rows["name"] != "mixed scales"], cases)
write("logistic.json", two_of_three(real_rows()), logistic_cases)
