"""Logistic regression to the same objective: a9a, w8a, IMDB, MNIST and 20 newsgroups.

scikit-learn runs every solver that is fast somewhere; of two classes LIBLINEAR itself runs too, in the primal with a
unpenalized intercept and in the dual, where the intercept is penalized. See `tolerance_path` for how they are timed.
"""

import benchmark
import tolerance_path
from benchmark import SHARED, Cell

OBJECTIVE = """
from scipy.special import logsumexp
def objective(model):
    z = x @ model.coef_.T + model.intercept_
    z = np.hstack([np.zeros_like(z), z]) if z.shape[1] == 1 else z
    return float((logsumexp(z, axis=1) - z[np.arange(len(y)), y]).sum() + 0.5 * (model.coef_**2).sum())
"""

TOLERANCES = (1e-2, 5e-3, 3e-3, 2e-3, 1e-3, 5e-4, 3e-4, 2e-4, 1e-4, 3e-5, 1e-5, 1e-6)
STEPS = (15, 30, 60, 100, 200, 400, 800)


def digits(n):
    """Pixels of handwritten digits; random rows of the same shape if the file is missing."""
    import numpy as np

    file = SHARED / "mnist" / "mnist.npz"
    if file.exists():
        data = np.load(file)
        return data["X_train"].reshape(60_000, -1)[:n] / 255.0, data["y_train"][:n].astype(np.int64)
    random = np.random.default_rng(1)
    y = random.integers(0, 10, n)
    common = random.normal(size=(40, 784))
    return random.normal(size=(n, 40)) @ common / 6 + random.normal(size=(10, 784))[y] / 4, y


def news(n):
    """TF-IDF of newsgroups; random terms if the file is missing."""
    import numpy as np
    import scipy.sparse as sp
    from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer

    file = SHARED / "20news" / "train.tsv"
    if file.exists():
        lines = file.read_text(encoding="utf8").split("\n")[:n]
        pairs = [line.split("\t", 1) for line in lines if "\t" in line]
        labels, texts = zip(*pairs, strict=True)
        x = TfidfVectorizer().fit_transform(texts)
        return x.tocsr(), np.unique(labels, return_inverse=True)[1]
    random = np.random.default_rng(2)
    y = random.integers(0, 20, n)
    words = (random.zipf(1.3, size=(n, 150)) * (1 + y[:, None] % 7)) % 130_107
    rows = np.repeat(np.arange(n), 150)
    counts = sp.csr_array((np.ones(n * 150), (rows, words.ravel())), shape=(n, 130_107))
    return TfidfTransformer().fit_transform(counts).tocsr(), y


def make(path, kind, rows):
    """Saves the rows and the dual bound of a fit with a small duality gap."""
    import numpy as np
    import scipy.sparse as sp

    from mercer.linear_model import LogisticRegression

    if path.with_name(path.name + "-bound.txt").exists():
        return
    benchmark.DATA.mkdir(exist_ok=True)
    x, y = rows()
    sp.save_npz(f"{path}.npz", x) if kind == "sparse" else np.save(f"{path}-x.npy", x)
    np.save(f"{path}-y.npy", y)
    bound = LogisticRegression(tol=1e-6).fit(x, y).certificate_["dual"]
    path.with_name(path.name + "-bound.txt").write_text(str(bound))


def implementations(data, binary):
    """Mercer, scikit-learn's solvers, oneDAL for dense rows, LIBLINEAR for two classes."""
    # Each iteration on 60,000 dense rows is slow, and the peers need hundreds of them.
    limit = 300 if data[0] == "dense" else 60

    def timed(*how, ours=False):
        return tolerance_path.implementation(*how, limit=limit, ours=ours)

    ours = "LogisticRegression(tol=options)"
    imports = "from {}.linear_model import LogisticRegression"
    yield timed("mercer", imports.format("mercer"), OBJECTIVE, ours, TOLERANCES, data, ours=True)
    by_steps = "LogisticRegression(max_iter=options, tol=1e-9)"
    theirs = imports.format("sklearn")
    yield timed("scikit-learn, lbfgs", theirs, OBJECTIVE, by_steps, STEPS, data)
    for solver in ("newton-cg", "newton-cholesky") if binary else ("newton-cg",):
        made = f"LogisticRegression(solver={solver!r}, tol=options, max_iter=1000)"
        label = f"scikit-learn, {solver}"
        yield timed(label, theirs, OBJECTIVE, made, TOLERANCES, data)
    if data[0] == "dense":
        imports = imports.format("sklearnex")
        yield timed("scikit-learn-intelex", imports, OBJECTIVE, by_steps, STEPS, data)
    for way, options in {"primal": "-s 0 -R", "dual": "-s 7"}.items() if binary else ():
        made = f'Liblinear(f"{options} -e {{options}}")'
        label = f"LIBLINEAR, {way}"
        yield timed(
            label, tolerance_path.LIBLINEAR, OBJECTIVE, made, (0.1, 0.03, *TOLERANCES), data
        )


def cells(quick):
    from cells.linear_svm import binary_rows, reviews

    small, large = (2_000, 1_000) if quick else (60_000, 25_000)
    for name, what, kind, binary, n, rows in [
        (
            "a9a",
            "a9a census, 123 binary features",
            "sparse",
            True,
            small,
            lambda n: binary_rows("a9a", n, 123),
        ),
        (
            "w8a",
            "w8a web pages, 300 binary features",
            "sparse",
            True,
            small,
            lambda n: binary_rows("w8a", n, 300),
        ),
        ("imdb", "IMDB reviews, TF-IDF", "sparse", True, large, reviews),
        ("digits", "MNIST, 784 pixels, 10 classes", "dense", False, small, digits),
        ("news", "20 newsgroups, TF-IDF, 20 classes", "sparse", False, large, news),
    ]:
        path = benchmark.DATA / f"logistic-{name}-{n}"
        # The Hessian of tens of thousands of features does not fit in memory.
        solvers = [
            c
            for c in implementations((kind, path, f"{path}-bound.txt"), binary)
            if not (name == "imdb" and c.name.endswith("newton-cholesky"))
        ]
        yield Cell(
            f"logistic-{name}",
            f"LogisticRegression, {what}, relative objective error 1e-4",
            solvers,
            stages=("fit",),
            prepare=lambda path=path, kind=kind, rows=rows, n=n: make(path, kind, lambda: rows(n)),
            check=tolerance_path.near_the_bound,
        )
