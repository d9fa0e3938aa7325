"""Linear support vector machines to the same objective: a9a, w8a, IMDB, 20 newsgroups and MNIST.

scikit-learn runs LIBLINEAR, in the dual or the primal as `dual="auto"` chooses; LIBLINEAR itself runs as well, in the
dual and, for the squared hinge loss, in the primal. See `tolerance_path` for how they are timed.
"""

import benchmark
import tolerance_path
from benchmark import SHARED, Cell

from cells.logistic import digits, news

OBJECTIVE = """
def objective(model):
    z = x @ model.coef_.T + model.intercept_
    own = y[:, None] == (model.classes_[1:] if z.shape[1] == 1 else model.classes_)
    distance = np.maximum(0, 1 - np.where(own, z, -z))
    cost = (distance**2 if {squared} else distance).sum()
    return float(cost + 0.5 * (model.coef_**2).sum() + 0.5 * (model.intercept_**2).sum())
"""

# Fine steps, so that nobody is timed far beyond what was args for.
TOLERANCES = (0.3, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01, 5e-3, 3e-3, 2e-3, 1e-3, 3e-4, 1e-4, 1e-5)


def binary_rows(name, n, width):
    """Rows of svmlight's format; random binary features if the file is missing."""
    import numpy as np
    import scipy.sparse as sp
    from sklearn.datasets import load_svmlight_file

    file = SHARED / name / "train.svm"
    if file.exists():
        x, y = load_svmlight_file(str(file), n_features=width)
        return x[:n].tocsr(), (y[:n] > 0).astype(np.int64)
    random = np.random.default_rng(3)
    x = sp.random(n, width, density=0.1, random_state=3, format="csr")
    return x, (x @ random.normal(size=width) + random.normal(size=n) / 2 > 0).astype(np.int64)


def reviews(n):
    """TF-IDF of film reviews; two classes of the newsgroups if the file is missing."""
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer

    file = SHARED / "imdb" / "train.tsv"
    if not file.exists():
        x, y = news(n)
        return x, y % 2
    pairs = [line.split("\t", 1) for line in file.read_text(encoding="utf8").split("\n")[:n]]
    labels, texts = zip(*[pair for pair in pairs if len(pair) == 2], strict=True)
    return TfidfVectorizer().fit_transform(texts).tocsr(), np.unique(labels, return_inverse=True)[1]


def make(path, kind, loss, rows):
    """Saves the rows and the dual bound of a fit with a small duality gap."""
    import numpy as np
    import scipy.sparse as sp

    from mercer.svm import LinearSVC

    bound = path.with_name(f"{path.name}-{loss}-bound.txt")
    if bound.exists():
        return
    benchmark.DATA.mkdir(exist_ok=True)
    x, y = rows()
    sp.save_npz(f"{path}.npz", x) if kind == "sparse" else np.save(f"{path}-x.npy", x)
    np.save(f"{path}-y.npy", y)
    bound.write_text(str(LinearSVC(loss=loss, gap=1e-5).fit(x, y).certificate_["dual"]))


def implementations(data, loss):
    """Mercer, scikit-learn, and LIBLINEAR with its dual and primal solvers."""
    # The peers take minutes on dense rows.
    limit = 60 if data[0] == "sparse" else 150
    objective = OBJECTIVE.format(squared=loss == "squared_hinge")
    made = f"LinearSVC(loss={loss!r}, tol=options, max_iter=100_000)"
    for label, package in [("mercer", "mercer"), ("scikit-learn", "sklearn")]:
        imports = f"from {package}.svm import LinearSVC"
        yield tolerance_path.implementation(
            label, imports, objective, made, TOLERANCES, data, limit, ours=label == "mercer"
        )
    ways = {"dual": 1, "primal": 2} if loss == "squared_hinge" else {"dual": 3}
    for way, number in ways.items():
        made = f'Liblinear(f"-s {number} -e {{options}}")'
        label = f"LIBLINEAR, {way}"
        yield tolerance_path.implementation(
            label, tolerance_path.LIBLINEAR, objective, made, TOLERANCES, data, limit
        )


def cells(quick):
    small, large = (2_000, 1_000) if quick else (60_000, 25_000)
    for name, what, kind, n, rows in [
        (
            "a9a",
            "a9a census, 123 binary features",
            "sparse",
            small,
            lambda: binary_rows("a9a", small, 123),
        ),
        (
            "w8a",
            "w8a web pages, 300 binary features",
            "sparse",
            small,
            lambda: binary_rows("w8a", small, 300),
        ),
        ("imdb", "IMDB reviews, TF-IDF", "sparse", large, lambda: reviews(large)),
        ("news", "20 newsgroups, TF-IDF, 20 classes", "sparse", large, lambda: news(large)),
        ("digits", "MNIST, 784 pixels, 10 classes", "dense", small, lambda: digits(small)),
    ]:
        for loss in ("squared_hinge", "hinge"):
            path = benchmark.DATA / f"linear-svm-{name}-{n}"
            data = (kind, path, f"{path}-{loss}-bound.txt")
            yield Cell(
                f"linear-svc-{name}-{loss.replace('_', '-')}",
                f"LinearSVC, {loss}, {what}, relative objective error 1e-4",
                list(implementations(data, loss)),
                stages=("fit",),
                prepare=lambda path=path, kind=kind, loss=loss, rows=rows: make(
                    path, kind, loss, rows
                ),
                check=tolerance_path.near_the_bound,
            )
