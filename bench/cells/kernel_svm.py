"""RBF support vector machines: fit and predict, against scikit-learn, scikit-learn-intelex, LIBSVM and ThunderSVM.

`C = 10`, tolerance 1e-3, gamma one over the columns on standardized columns (0.02 on digits scaled to one). Uses
the tables in `../shared/data` where they are; a set that is not there is drawn with the same shape. Contestants
that are not installed, or do not load, are left out (the wheel of ThunderSVM 0.3.12 wants CUDA 9), and those that take
minutes on a data set are not run there (`PATIENCE`).

Everybody is as near to the optimum: accuracies within 0.2 points, and the dual objective of all pairs of classes, worked
out in double precision from the coefficients and support vectors, not below LIBSVM's (as scikit-learn carries it) by more
than a millionth.
"""

import importlib.util
import subprocess
import sys

import benchmark
from benchmark import SHARED, Cell, Implementation, python

#: The dual objective of the coefficients of a model: `Σ zβ − ε|β| − βᵀKβ / 2` of every problem, `z` the target, or ±1.
DUALS = """
def dual(x, b, z, gamma, tube=0.0):
    keep = b != 0
    x, b, z = x[keep], b[keep], z[keep]
    norms, quadratic = (x * x).sum(1), 0.0
    for i in range(0, len(x), 1000):
        some = slice(i, i + 1000)
        squares = norms[some, None] + norms[None] - 2 * x[some] @ x.T
        quadratic += b[some] @ (np.exp(-gamma * np.maximum(squares, 0)) @ b)
    return float(z @ b - tube * np.abs(b).sum() - quadratic / 2)

def duals(model, gamma):
    x, b = np.asarray(model.support_vectors_, float), np.asarray(model.dual_coef_, float)
    ends = np.concatenate([[0], np.cumsum(model.n_support_)])
    of, out = [slice(*pair) for pair in zip(ends, ends[1:])], []
    for c in range(len(of)):
        for d in range(c + 1, len(of)):
            pair = np.concatenate([b[d - 1, of[c]], b[c, of[d]]])
            out.append(dual(np.concatenate([x[of[c]], x[of[d]]]), pair, np.sign(pair), gamma))
    return out
"""

PEER = (
    """
import json, sys, time, numpy as np
{imports}
data = np.load(sys.argv[1])
x, y, xt, yt, gamma = (data[k] for k in ("x", "y", "xt", "yt", "gamma"))
x, xt = x.astype({dtype!r}), xt.astype({dtype!r})
start = time.perf_counter(); model = {make}.fit(x, y); middle = time.perf_counter()
label = model.predict(xt); end = time.perf_counter()
result = {{"fit": middle - start, "predict": end - middle, "accuracy": float((label == yt).mean())}}
"""
    + DUALS
    + """
if {dual}:
    result["duals"] = duals(model, gamma)
if hasattr(model, "certificate_"):
    certificate = model.certificate_
    result["gap"] = 1 - certificate["dual"] / certificate["objective"]
print(json.dumps(result))
"""
)

NUMBERS = (
    """
import json, sys, time, numpy as np
{imports}
data = np.load(sys.argv[1])
x, y, xt, yt, gamma = (data[k] for k in ("x", "y", "xt", "yt", "gamma"))
x, xt = x.astype({dtype!r}), xt.astype({dtype!r})
start = time.perf_counter(); model = {make}.fit(x, y); middle = time.perf_counter()
guess = model.predict(xt); end = time.perf_counter()
error = float(np.sqrt(np.mean((guess - yt) ** 2)))
result = {{"fit": middle - start, "predict": end - middle, "error": error}}
"""
    + DUALS
    + """
if {dual}:
    beta = np.asarray(model.dual_coef_, float)[0]
    result["duals"] = [dual(np.asarray(model.support_vectors_, float), beta, y[model.support_], gamma, 0.1)]
print(json.dumps(result))
"""
)

LIBSVM = """
import json, sys, time, numpy as np
from libsvm.svmutil import svm_problem, svm_parameter, svm_train, svm_predict
data = np.load(sys.argv[1])
x, y, xt, yt, gamma = (data[k] for k in ("x", "y", "xt", "yt", "gamma"))
problem = svm_problem(y.astype(float), x)
parameter = svm_parameter(f"-q -c 10 -g {float(gamma)} -m 1000")
start = time.perf_counter(); model = svm_train(problem, parameter); middle = time.perf_counter()
label = np.array(svm_predict(yt.astype(float), xt, model, "-q")[0]); end = time.perf_counter()
print(json.dumps({"fit": middle - start, "predict": end - middle, "accuracy": float((label == yt).mean())}))
"""

#: Rows to fit, rows to predict, features, classes.
SHAPES = {
    "spam": (3_101, 1_500, 57, 2),
    "shuttle": (43_500, 14_500, 9, 7),
    "letter": (15_000, 5_000, 16, 26),
    "a9a": (32_561, 16_281, 123, 2),
    "w8a": (39_800, 9_949, 300, 2),
    "mnist": (10_000, 10_000, 784, 10),
}


#: The regression data sets: rows to fit, rows to predict, features.
NUMBER_SHAPES = {"california": (16_512, 4_128, 13), "casp": (36_584, 9_146, 9)}


def read(name):
    """The data set as it is distributed, or `None` if it is missing."""
    import numpy as np

    folder = SHARED / name
    if name == "mnist" and (folder / "mnist.npz").exists():
        data = np.load(folder / "mnist.npz")
        x, y, xt, yt = (data[k] for k in ("X_train", "y_train", "X_test", "y_test"))
        return (
            x[:10_000].reshape(10_000, -1) / 255.0,
            y[:10_000],
            xt.reshape(len(xt), -1) / 255.0,
            yt,
        )
    if (folder / "train.svm").exists():
        from sklearn.datasets import load_svmlight_files

        x, y, xt, yt = load_svmlight_files([str(folder / "train.svm"), str(folder / "test.svm")])
        return x.toarray(), y, xt.toarray(), yt
    if (folder / "train.csv").exists():
        import pandas

        parts = []
        for part in ("train", "test"):
            table = pandas.read_csv(folder / f"{part}.csv")
            parts += [table.drop(columns="y").to_numpy(float), table["y"].to_numpy()]
        x, y, xt, yt = parts
        mean, deviation = x.mean(0), x.std(0)
        deviation[deviation == 0] = 1
        return (x - mean) / deviation, y, (xt - mean) / deviation, yt
    return None


def draw(name):
    """Random Gaussian classes with the shape of the data set."""
    import numpy as np

    n, n_test, width, n_classes = SHAPES[name]
    random = np.random.default_rng(5)
    y = random.integers(0, n_classes, n + n_test)
    x = random.normal(size=(n_classes, width))[y] + 1.2 * random.normal(size=(n + n_test, width))
    return x[:n], y[:n], x[n:], y[n:]


def make_numbers(path, name, rows):
    import numpy as np

    if path.exists():
        return
    benchmark.DATA.mkdir(exist_ok=True)
    found = read(name)
    if found is None:
        n, n_test, width = NUMBER_SHAPES[name]
        random = np.random.default_rng(6)
        x = random.normal(size=(n + n_test, width))
        y = np.sin(x[:, 0]) + x[:, 1] * x[:, 2] / 4 + 0.3 * random.normal(size=n + n_test)
        found = x[:n], y[:n], x[n:], y[n:]
    x, y, xt, yt = found
    mean, spread = y.mean(), y.std()
    y, yt = (y - mean) / spread, (yt - mean) / spread
    np.savez(path, x=x[:rows], y=y[:rows], xt=xt[:rows], yt=yt[:rows], gamma=1 / x.shape[1])


def make(path, name, rows):
    import numpy as np

    if path.exists():
        return
    benchmark.DATA.mkdir(exist_ok=True)
    x, y, xt, yt = read(name) or draw(name)
    classes = np.unique(y)
    y, yt = np.searchsorted(classes, y), np.searchsorted(classes, yt)
    gamma = 0.02 if name == "mnist" else 1 / x.shape[1]
    np.savez(path, x=x[:rows], y=y[:rows], xt=xt[:rows], yt=yt[:rows], gamma=gamma)


#: Implementations that are run on some data sets only; on the others they take a minute or more (ThunderSVM 63 s on 10,000 rows of a9a).
PATIENCE = {
    "libsvm": ("spam", "shuttle", "letter", "w8a", "mnist"),
    "thundersvm": ("spam", "letter"),
}


def close_accuracy(answers):
    accuracies = [a["accuracy"] for a in answers.values()]
    assert max(accuracies) - min(accuracies) < 0.002, answers
    good_duals(answers)


def close_error(answers):
    errors = [a["error"] for a in answers.values()]
    assert max(errors) < 1.01 * min(errors), answers
    good_duals(answers)


def good_duals(answers):
    """Checks that the sum of our dual objectives reaches LIBSVM's."""
    ours, libsvms = (sum(answers[label]["duals"]) for label in ("mercer", "scikit-learn"))
    short = (libsvms - ours) / libsvms
    assert short <= 1e-6, (
        f"the dual objective is short of LIBSVM's by {short:.1e}: {ours}, {libsvms}"
    )


def loads(module):
    """Whether a module can be imported: some wheels need a missing shared library."""
    if importlib.util.find_spec(module) is None:
        return False
    return (
        subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True).returncode
        == 0
    )


def cells(quick):
    rows = 1_000 if quick else None
    there = {module: loads(module) for module in ("sklearnex", "thundersvm", "libsvm")}
    for name in SHAPES:
        path = benchmark.DATA / f"svm-{name}{'-quick' if quick else ''}.npz"
        svc = "SVC(C=10, gamma=float(gamma))"

        def peer(label, module, path=path, svc=svc, dtype="float64"):
            dual = label in ("mercer", "scikit-learn")
            code = PEER.format(
                imports=f"from {module} import SVC", make=svc, dtype=dtype, dual=dual
            )
            return Implementation(label, python(code, path), label == "mercer")

        implementations = [peer("mercer", "mercer.svm"), peer("scikit-learn", "sklearn.svm")]
        if there["sklearnex"]:
            implementations.append(peer("scikit-learn-intelex", "sklearnex.svm"))
            implementations.append(
                peer("scikit-learn-intelex-f32", "sklearnex.svm", dtype="float32")
            )
        if there["thundersvm"] and name in PATIENCE["thundersvm"]:
            implementations.append(peer("thundersvm", "thundersvm"))
        if there["libsvm"] and name in PATIENCE["libsvm"]:
            implementations.append(Implementation("libsvm", python(LIBSVM, path)))
        n, _, width, n_classes = SHAPES[name]
        yield Cell(
            f"svc-{name}",
            f"RBF SVC on {name}, {rows or n:,} x {width}, {n_classes} classes",
            implementations,
            stages=("fit", "predict"),
            prepare=lambda path=path, name=name: make(path, name, rows),
            check=close_accuracy,
        )
    for name, (n, _, width) in NUMBER_SHAPES.items():
        path = benchmark.DATA / f"svr-{name}{'-quick' if quick else ''}.npz"
        implementations = []
        for label, module, dtype in [
            ("mercer", "mercer.svm", "float64"),
            ("scikit-learn", "sklearn.svm", "float64"),
            ("scikit-learn-intelex", "sklearnex.svm", "float64"),
            ("scikit-learn-intelex-f32", "sklearnex.svm", "float32"),
        ]:
            if there.get(module.split(".")[0], True):
                svr = "SVR(C=1, epsilon=0.1, gamma=float(gamma))"
                dual = label in ("mercer", "scikit-learn")
                code = NUMBERS.format(
                    imports=f"from {module} import SVR", make=svr, dtype=dtype, dual=dual
                )
                implementations.append(Implementation(label, python(code, path), label == "mercer"))
        yield Cell(
            f"svr-{name}",
            f"RBF SVR on {name}, {rows or n:,} x {width}",
            implementations,
            stages=("fit", "predict"),
            prepare=lambda path=path, name=name: make_numbers(path, name, rows),
            check=close_error,
        )
