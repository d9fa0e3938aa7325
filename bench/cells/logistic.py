"""Logistic regression to the same objective: census, pages, reviews, digits by pixels, and newsgroups by words.

scikit-learn runs every solver that is fast somewhere; of two classes LIBLINEAR itself runs too, in the primal with a
free constant term and in the dual, where the constant has a price. See `ladder` for how they are timed.
"""

import contest
import ladder
from contest import SHARED, Cell

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
    """Pixels of handwritten digits; numbers of the same shape where the file is not there."""
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
    """TF-IDF of newsgroups; as many words drawn at random where the file is not there."""
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
    """Saves the rows, and the bound that comes with a tight fit."""
    import numpy as np
    import scipy.sparse as sp
    from mercer.linear_model import LogisticRegression

    if path.with_name(path.name + "-bound.txt").exists():
        return
    contest.DATA.mkdir(exist_ok=True)
    x, y = rows()
    sp.save_npz(f"{path}.npz", x) if kind == "sparse" else np.save(f"{path}-x.npy", x)
    np.save(f"{path}-y.npy", y)
    bound = LogisticRegression(tol=1e-6).fit(x, y).certificate_["bound"]
    path.with_name(path.name + "-bound.txt").write_text(str(bound))


def contestants(data, binary):
    """Ours, scikit-learn by its solvers, oneDAL where rows are dense, LIBLINEAR where there are two classes."""
    # Steps of 60,000 dense rows take long, and hundreds of them are wanted.
    limit = 300 if data[0] == "dense" else 60

    def climbs(*how, ours=False):
        return ladder.contestant(*how, limit=limit, ours=ours)

    ours = "LogisticRegression(tol=options)"
    imports = "from {}.linear_model import LogisticRegression"
    yield climbs("mercer", imports.format("mercer"), OBJECTIVE, ours, TOLERANCES, data, ours=True)
    by_steps = "LogisticRegression(max_iter=options, tol=1e-9)"
    theirs = imports.format("sklearn")
    yield climbs("scikit-learn, lbfgs", theirs, OBJECTIVE, by_steps, STEPS, data)
    for solver in ("newton-cg", "newton-cholesky") if binary else ("newton-cg",):
        made = f"LogisticRegression(solver={solver!r}, tol=options, max_iter=1000)"
        who = f"scikit-learn, {solver}"
        yield climbs(who, theirs, OBJECTIVE, made, TOLERANCES, data)
    if data[0] == "dense":
        imports = imports.format("sklearnex")
        yield climbs("scikit-learn-intelex", imports, OBJECTIVE, by_steps, STEPS, data)
    for way, options in {"primal": "-s 0 -R", "dual": "-s 7"}.items() if binary else ():
        made = f'Liblinear(f"{options} -e {{options}}")'
        who = f"LIBLINEAR, {way}"
        yield climbs(who, ladder.LIBLINEAR, OBJECTIVE, made, (0.1, 0.03) + TOLERANCES, data)


def cells(quick):
    from cells.linear_svm import marked, reviews

    small, large = (2_000, 1_000) if quick else (60_000, 25_000)
    for name, what, kind, binary, n, rows in [
        ("a9a", "census, 123 marks", "sparse", True, small, lambda n: marked("a9a", n, 123)),
        ("w8a", "web pages, 300 words", "sparse", True, small, lambda n: marked("w8a", n, 300)),
        ("imdb", "film reviews by words", "sparse", True, large, reviews),
        ("digits", "digits by 784 pixels, 10 classes", "dense", False, small, digits),
        ("news", "newsgroups by words, 20 classes", "sparse", False, large, news),
    ]:
        path = contest.DATA / f"logistic-{name}-{n}"
        # Words by the ten thousands have second derivatives that do not fit into memory.
        solvers = [
            c
            for c in contestants((kind, path, f"{path}-bound.txt"), binary)
            if not (name == "imdb" and c.who.endswith("newton-cholesky"))
        ]
        yield Cell(
            f"logistic-{name}",
            f"LogisticRegression, {what}, to 1e-4 of the least objective",
            solvers,
            stages=("fit",),
            prepare=lambda path=path, kind=kind, rows=rows, n=n: make(path, kind, lambda: rows(n)),
            check=ladder.near_the_bound,
        )
