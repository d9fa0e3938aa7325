"""Logistic regression to the same objective: digits by pixels, and newsgroups by words.

Every contestant is given tighter tolerances until its objective is within 1e-4 of a certified bound on the
least there is, and is timed at the first that is; one that gets no nearer is timed at its last, which the
objective in its answer shows. scikit-learn runs L-BFGS, its fastest solver for many classes.
"""

import contest
from contest import SHARED, Cell, Contestant, python

CONTEST = """
import json, sys, time, warnings, numpy as np, scipy.sparse as sp
from scipy.special import logsumexp
{imports}
warnings.simplefilter("ignore")
kind, path = sys.argv[1], sys.argv[2]
target = float(open(path + "-bound.txt").read())
x = sp.load_npz(path + ".npz") if kind == "sparse" else np.load(path + "-x.npy")
y = np.load(path + "-y.npy")
def objective(model):
    z = x @ model.coef_.T + model.intercept_
    return float((logsumexp(z, axis=1) - z[np.arange(len(y)), y]).sum() + 0.5 * (model.coef_**2).sum())
best = None
for options in {options}:
    times, model = [], {name}(**options)
    for _ in range(2):
        start = time.perf_counter(); model.fit(x, y); times.append(time.perf_counter() - start)
    best = {{"fit": min(times), "objective": objective(model), "target": target, "options": str(options)}}
    if best["objective"] <= target * (1 + 1e-4):
        break
print(json.dumps(best))
"""

TOLERANCES = [{"tol": t} for t in (1e-2, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6)]
STEPS = [{"max_iter": n, "tol": 1e-9} for n in (30, 60, 100, 200, 400, 800)]


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


def near_the_bound(answers):
    ours = answers["mercer"]
    assert ours["objective"] <= ours["target"] * (1 + 1e-4), answers


def cells(quick):
    sizes = (2_000, 1_000) if quick else (60_000, 20_000)
    for name, what, kind, rows, n in [
        ("logistic-digits", "digits by 784 pixels, 10 classes", "dense", digits, sizes[0]),
        ("logistic-news", "newsgroups by words, 20 classes", "sparse", news, sizes[1]),
    ]:
        path = contest.DATA / f"{name}-{n}"
        contestants = [
            ("mercer", "from mercer.linear_model import LogisticRegression", TOLERANCES, True),
            ("scikit-learn", "from sklearn.linear_model import LogisticRegression", STEPS, False),
        ]
        if kind == "dense":
            imports = "from sklearnex.linear_model import LogisticRegression"
            contestants.append(("scikit-learn-intelex", imports, STEPS, False))
        yield Cell(
            name,
            f"LogisticRegression, {what}, to 1e-4 of the least objective",
            [
                Contestant(
                    who,
                    python(
                        CONTEST.format(imports=imports, options=options, name="LogisticRegression"),
                        kind,
                        path,
                    ),
                    ours,
                )
                for who, imports, options, ours in contestants
            ],
            stages=("fit",),
            prepare=lambda path=path, kind=kind, rows=rows, n=n: make(path, kind, lambda: rows(n)),
            check=near_the_bound,
        )
