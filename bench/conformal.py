"""Coverage of conformal prediction sets and intervals on test rows.

Every table has a training and a test part (of large ones, a random sample of each). One estimator per table is trained with ten-fold
cross-validation; the prediction sets or intervals of the test rows should contain the target as often as promised. Sets always hold the
most probable class, so that a classifier that is more accurate than the level covers more than it promises.

    python bench/conformal.py --data ../shared/data --mercer target/release/mercer
"""

import argparse
import pathlib
import subprocess
import tempfile

import pandas as pd

#: Table, target, estimator and whether the target is numeric.
TABLES = [
    ("adult", "income", "logistic", False),
    ("mushroom", "class", "mixed-nb", False),
    ("housevotes84", "Class", "tan", False),
    ("spam", "y", "logistic", False),
    ("letter", "y", "lda", False),
    ("letter", "y", "rda", False),
    ("shuttle", "y", "lda", False),
    ("california", "y", "ridge", True),
    ("california", "y", "mlp-regressor", True),
    ("casp", "y", "ridge", True),
]
LEVELS = (0.8, 0.9, 0.95)
MAX_ROWS = 8000


def coverage(
    binary: str, folder: pathlib.Path, target: str, model: str, *, numeric: bool
) -> list[str]:
    """One line per level."""
    lines = []
    with tempfile.TemporaryDirectory() as work:
        paths = {}
        for part in ("train", "test"):
            table = pd.read_csv(folder / f"{part}.csv")
            # Some tables are in a geographic order, and the first rows of these are no sample.
            table = table.sample(min(MAX_ROWS, len(table)), random_state=0)
            paths[part] = f"{work}/{part}.csv"
            table.to_csv(paths[part], index=False)
        truth = pd.read_csv(paths["test"], dtype=None if numeric else str)[target]
        train = [binary, "train", paths["train"], "--target", target, "--model", model]
        subprocess.run(
            [*train, "--out", f"{work}/m.mercer", "--no-report", "-q"],
            check=True,
            capture_output=True,
        )
        for level in LEVELS:
            option = (
                ["--interval", str(level), "--conformal"] if numeric else ["--sets", str(level)]
            )
            out = f"{work}/predicted.csv"
            subprocess.run(
                [binary, "predict", f"{work}/m.mercer", paths["test"], *option, "--out", out],
                check=True,
                capture_output=True,
            )
            found = pd.read_csv(out, dtype=None if numeric else str, keep_default_na=False)
            if numeric:
                inside = (found["low"] <= truth) & (truth <= found["high"])
                size = f"width {(found['high'] - found['low']).mean():.3g}"
            else:
                inside = pd.Series(
                    [t in s.split("|") for t, s in zip(truth, found["set"], strict=True)]
                )
                accuracy = (found.iloc[:, 0] == truth).mean()
                size = f"{found['set'].str.count('[|]').mean() + 1:.2f} classes, accuracy {accuracy:.3f}"
            lines.append(
                f"| {folder.name} | {model} | {len(truth)} | {level} | {inside.mean():.4f} | {size} |"
            )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--mercer", required=True)
    options = parser.parse_args()
    print("| table | estimator | test rows | level | coverage | size |\n|---|---|---|---|---|---|")
    for name, target, model, numeric in TABLES:
        for line in coverage(options.mercer, options.data / name, target, model, numeric=numeric):
            print(line, flush=True)


if __name__ == "__main__":
    main()
