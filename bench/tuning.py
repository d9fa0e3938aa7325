"""Grid search of the RBF SVC: shared kernel matrices and warm starts against scikit-learn and against separate fits.

Five-fold cross-validation over a 5 x 5 grid of C and gamma, on spam (4,601 rows, standardized) and on 5,000 letters
(scaled). `mercer.model_selection.GridSearchCV` is compared with scikit-learn's `GridSearchCV(n_jobs=2)` of its own SVC, and
with a loop of separate fits of `mercer.svm.SVC`. The largest difference of a mean score is printed.

    OMP_WAIT_POLICY=passive python bench/tuning.py --data ../shared/data [spam] [letter]
"""

import argparse
import pathlib
import time

import numpy as np
import pandas as pd
import sklearn.model_selection
import sklearn.svm
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

import mercer.model_selection
import mercer.svm

N_ROWS = {"spam": None, "letter": 5000}


def rows(folder: pathlib.Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Standardized rows and labels."""
    table = pd.read_csv(folder / name / "train.csv")
    n = N_ROWS[name]
    if n is None:
        test = folder / name / "test.csv"
        table = pd.concat([table, pd.read_csv(test)]) if test.exists() else table
    else:
        table = table.iloc[:n]
    y = table.pop("y").to_numpy()
    return StandardScaler().fit_transform(table.to_numpy(dtype=np.float64)), y


def separate_fits(X: np.ndarray, y: np.ndarray, grid: dict, folds: list) -> np.ndarray:
    """Mean scores of one fit per setting and fold."""
    scores = []
    for setting in sklearn.model_selection.ParameterGrid(grid):
        model = mercer.svm.SVC(**setting)
        scores.append(np.mean([model.fit(X[a], y[a]).score(X[b], y[b]) for a, b in folds]))
    return np.array(scores)


def compare(name: str, folder: pathlib.Path, *, peer: bool) -> None:
    X, y = rows(folder, name)
    scale = 1 / X.shape[1]
    grid = {
        "C": [0.1, 1.0, 10.0, 100.0, 1000.0],
        "gamma": [m * scale for m in (0.1, 0.3, 1.0, 3.0, 10.0)],
    }
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))

    start = time.perf_counter()
    shared = mercer.model_selection.GridSearchCV(mercer.svm.SVC(), grid, cv=folds, refit=False).fit(
        X, y
    )
    seconds = {"shared": time.perf_counter() - start}
    start = time.perf_counter()
    separate = separate_fits(X, y, grid, folds)
    seconds["separate"] = time.perf_counter() - start
    ours = shared.cv_results_["mean_test_score"]
    print(f"{name}: {X.shape[0]} rows, {X.shape[1]} columns, best {ours.max():.4f}")
    print(f"  shared fits {seconds['shared']:.2f} s")
    ratio = seconds["separate"] / seconds["shared"]
    print(
        f"  separate fits {seconds['separate']:.2f} s, {ratio:.1f}x; scores differ by {abs(ours - separate).max():.1e}"
    )
    if peer:
        start = time.perf_counter()
        search = sklearn.model_selection.GridSearchCV(
            sklearn.svm.SVC(cache_size=500), grid, cv=folds, refit=False, n_jobs=2
        ).fit(X, y)
        seconds["peer"] = time.perf_counter() - start
        theirs = search.cv_results_["mean_test_score"]
        ratio = seconds["peer"] / seconds["shared"]
        print(
            f"  scikit-learn {seconds['peer']:.2f} s, {ratio:.1f}x; scores differ by {abs(ours - theirs).max():.1e}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("tables", nargs="*", default=list(N_ROWS), choices=[[], *N_ROWS])
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--no-peer", action="store_true", help="without scikit-learn")
    options = parser.parse_args()
    for name in options.tables:
        compare(name, options.data, peer=not options.no_peer)


if __name__ == "__main__":
    main()
