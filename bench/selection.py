"""Default `mercer train` against scikit-learn behind skrub's `tabular_pipeline`, on the tables of the shared data folder.

Every table has a fixed training and test part. Mercer selects by cross-validation on the training part (60 s); the peers are
LogisticRegression, SVC and HistGradientBoosting (Ridge, SVR and HistGradientBoosting for a numeric target) with their
defaults. Of texts, the peers are LogisticRegression, LinearSVC and MultinomialNB behind TfidfVectorizer. The score is
accuracy or R2 on the test part.

    python bench/selection.py --data ../shared/data --mercer target/release/mercer [table ...]
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR, LinearSVC
from skrub import tabular_pipeline

TABLES = {
    "adult": ("income", False),
    "mushroom": ("class", False),
    "housevotes84": ("Class", False),
    "spam": ("y", False),
    "letter": ("y", False),
    "shuttle": ("y", False),
    "california": ("y", True),
    "casp": ("y", True),
}
# Files of a label and a text per line, without a header.
TEXTS = ["smsspam", "20news", "imdb"]
# Kernel peers take minutes on more rows than this.
MAX_SVM_ROWS = 20_000


def texts(folder: pathlib.Path, part: str) -> pd.DataFrame:
    """The labels and texts of a part."""
    lines = (folder / f"{part}.tsv").read_text(encoding="utf-8").splitlines()
    return pd.DataFrame([line.split("\t", 1) for line in lines], columns=["label", "text"])


def mercer(
    binary: str, train_file: pathlib.Path, test_file: pathlib.Path, options: list[str]
) -> tuple[float, float, str]:
    """Test score, seconds of training and the selected candidate."""
    with tempfile.TemporaryDirectory() as work:
        model = f"{work}/model.mercer"
        start = time.perf_counter()
        command = [binary, "train", str(train_file), *options, "--out", model]
        train = subprocess.run(
            [*command, "--no-report", "--json"], check=True, capture_output=True, text=True
        )
        seconds = time.perf_counter() - start
        selected = json.loads(train.stdout)["leaderboard"]["rows"][0]["name"]
        evaluate = subprocess.run(
            [binary, "evaluate", model, str(test_file), "--json"],
            check=True,
            capture_output=True,
            text=True,
        )
        report = json.loads(evaluate.stdout)
    scores = report.get("regression") or report
    if "r_squared" in scores:
        return scores["r_squared"], seconds, selected
    accuracy = scores.get("accuracy") or scores["classification"]["accuracy"]
    return accuracy["value"] if isinstance(accuracy, dict) else accuracy, seconds, selected


def peers(folder: pathlib.Path, target: str, regression: bool) -> dict[str, float]:
    """Test scores of scikit-learn's estimators."""
    train, test = (pd.read_csv(folder / f"{part}.csv") for part in ("train", "test"))
    models = (
        {"ridge": Ridge(), "svr": SVR(), "boosting": HistGradientBoostingRegressor()}
        if regression
        else {
            "logistic": LogisticRegression(max_iter=1000),
            "svc": SVC(),
            "boosting": HistGradientBoostingClassifier(),
        }
    )
    if len(train) > MAX_SVM_ROWS:
        models = {name: model for name, model in models.items() if not name.startswith("sv")}
    scores = {}
    for name, model in models.items():
        pipeline = tabular_pipeline(model).fit(train.drop(columns=target), train[target])
        scores[name] = pipeline.score(test.drop(columns=target), test[target])
    return scores


def of_texts(
    binary: str, folder: pathlib.Path
) -> tuple[tuple[float, float, str], dict[str, float]]:
    """Mercer and the peers on texts."""
    train, test = texts(folder, "train"), texts(folder, "test")
    with tempfile.TemporaryDirectory() as work:
        files = [pathlib.Path(work) / f"{part}.csv" for part in ("train", "test")]
        for part, file in zip((train, test), files, strict=True):
            part.to_csv(file, index=False)
        own = mercer(binary, *files, ["--target", "label", "--text", "text"])
    models = {
        "logistic": LogisticRegression(max_iter=1000),
        "linear svc": LinearSVC(),
        "multinomial nb": MultinomialNB(),
    }
    scores = {}
    for name, model in models.items():
        pipeline = make_pipeline(TfidfVectorizer(), model).fit(train["text"], train["label"])
        scores[name] = pipeline.score(test["text"], test["label"])
    return own, scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--mercer", default="target/release/mercer")
    parser.add_argument("tables", nargs="*", default=[*TABLES, *TEXTS])
    args = parser.parse_args()
    print("| table | Mercer | seconds | selected | best peer | difference |")
    print("|---|---|---|---|---|---|")
    for name in args.tables:
        folder = args.data / name
        if name in TEXTS:
            (score, seconds, selected), scores = of_texts(args.mercer, folder)
        else:
            target, regression = TABLES[name]
            parts = (folder / "train.csv", folder / "test.csv")
            score, seconds, selected = mercer(args.mercer, *parts, ["--target", target])
            scores = peers(folder, target, regression)
        best = max(scores, key=lambda peer: scores[peer])
        print(
            f"| {name} | {score:.4f} | {seconds:.1f} | {selected} | {best} {scores[best]:.4f} | "
            f"{100 * (score - scores[best]):+.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
