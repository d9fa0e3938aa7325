"""Runs scikit-learn's own tests on Mercer, and compares the outcomes with the recorded differences.

``run.py`` runs all tests and writes ``docs/drop-in.md`` and ``counts.json``; ``run.py --check`` writes nothing and
fails if a test fails that ``differences.toml`` does not explain, or if fewer tests pass than recorded: the number may
only rise. ``--sample 12`` does the same with every twelfth test, which takes about half a minute.
"""

import argparse
import fnmatch
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import defaultdict
from pathlib import Path
from zlib import crc32

import sklearn

HERE = Path(__file__).parent
ROOT = HERE.parents[3]
PACKAGE = ROOT / "crates/mercer-python/python"
DOCS = ROOT / "docs/drop-in.md"
COUNTS = HERE / "counts.json"
DIFFERENCES = HERE / "differences.toml"

#: ``make test`` runs every twelfth test; ``counts.json`` has the number of those that pass.
SAMPLE = 12
SAMPLE_KEY = f"every {SAMPLE}th test"

#: The tested modules of scikit-learn.
MODULES = [
    "tests/test_naive_bayes.py",
    "tests/test_discriminant_analysis.py",
    "tests/test_kernel_approximation.py",
    "tests/test_kernel_ridge.py",
    "svm/tests/test_svm.py",
    "svm/tests/test_sparse.py",
    "svm/tests/test_bounds.py",
    "linear_model/tests/test_base.py",
    "linear_model/tests/test_ridge.py",
    "linear_model/tests/test_logistic.py",
    "linear_model/tests/test_coordinate_descent.py",
    "linear_model/tests/test_sparse_coordinate_descent.py",
    "linear_model/tests/test_sgd.py",
    "linear_model/tests/test_perceptron.py",
    "linear_model/tests/test_passive_aggressive.py",
    "neural_network/tests/test_mlp.py",
    "decomposition/tests/test_kernel_pca.py",
    "preprocessing/tests/test_polynomial.py",
    "feature_extraction/tests/test_text.py",
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing, compare with the records"
    )
    parser.add_argument(
        "--sample", type=int, default=1, help="run every n-th test; implies --check"
    )
    parser.add_argument("--workers", type=int, default=2, help="number of processes")
    parser.add_argument("--outcomes", type=Path, help="keep the outcomes in this file")
    options = parser.parse_args()
    outcomes = run(options)
    differences = tomllib.loads(DIFFERENCES.read_text()).get("difference", [])
    counts, unexplained = count(outcomes, differences)
    print(table(counts))
    check = options.check or options.sample > 1
    failed = report_unexplained(unexplained)
    if options.sample == 1:
        failed |= report_stale(outcomes, differences)
        failed |= check and report_losses(counts)
    elif options.sample == SAMPLE:
        failed |= report_losses({SAMPLE_KEY: passed_of_sample(outcomes)})
    if not check and not failed:
        recorded = {"scikit-learn": sklearn.__version__, SAMPLE_KEY: passed_of_sample(outcomes)}
        COUNTS.write_text(json.dumps(recorded | counts, indent=1) + "\n")
        DOCS.write_text(document(counts, outcomes, differences))
    return int(failed)


def run(options: argparse.Namespace) -> dict:
    """The outcome of every scored test, by its id from the folder of scikit-learn."""
    folder = Path(sklearn.__file__).parent
    with tempfile.TemporaryDirectory() as temporary:
        path = options.outcomes or Path(temporary) / "outcomes.json"
        command = [sys.executable, "-m", "pytest", "-c", str(HERE / "pytest.ini")]
        command += [
            "-p",
            "plugin",
            "--rootdir",
            str(folder.parent),
            "-n",
            str(options.workers),
            "--outcomes",
            str(path),
        ]
        command += ["--sample", str(options.sample), "--tb=no", "-q", "--no-header", "-W", "ignore"]
        command += [str(folder / module) for module in MODULES]
        paths = [str(HERE), str(PACKAGE), os.environ.get("PYTHONPATH", "")]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(paths),
            "OMP_WAIT_POLICY": "passive",
        }
        finished = subprocess.run(
            command, env=environment, cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        if not Path(path).exists():
            sys.exit(f"pytest did not finish:\n{finished.stdout.decode()[-3000:]}")
        outcomes = json.loads(Path(path).read_text())
    if not outcomes:
        sys.exit(f"pytest ran no test:\n{finished.stdout.decode()[-3000:]}")
    for test, outcome in outcomes.items():
        outcome["sampled"] = crc32(test.encode()) % SAMPLE == 0
    relative = {re.sub(r"^.*?sklearn/", "", test): outcome for test, outcome in outcomes.items()}
    return {test: o for test, o in relative.items() if is_scored(o)}


def is_scored(outcome: dict) -> bool:
    """Whether a test uses Mercer, or a class that Mercer lacks, and is not skipped or expected to fail."""
    return bool(outcome["used"]) and outcome["outcome"] != "skipped" and not outcome["xfail"]


def passes(outcome: dict) -> bool:
    """A test that uses only a class that Mercer lacks does not count as passed."""
    return outcome["outcome"] == "passed" and "ours" in outcome["used"]


def function_of(test: str) -> str:
    return test.partition("[")[0]


def explanation(test: str, differences: list[dict]) -> dict | None:
    for difference in differences:
        if any(fnmatch.fnmatchcase(test, _pattern(pattern)) for pattern in difference["tests"]):
            return difference
    return None


def _pattern(pattern: str) -> str:
    """A pattern matches a function with all its parameters; brackets are literal."""
    return pattern.replace("[", "[[]") + "*"


def count(outcomes: dict, differences: list[dict]) -> tuple[dict, list]:
    counts = {module: [0, 0] for module in MODULES}
    unexplained = []
    for test, outcome in outcomes.items():
        row = counts[test.partition("::")[0]]
        row[1] += 1
        if passes(outcome):
            row[0] += 1
        elif explanation(test, differences) is None:
            unexplained.append((test, outcome["error"]))
    return counts, unexplained


def table(counts: dict) -> str:
    lines = ["| module | passed | scored | share |", "|---|---:|---:|---:|"]
    total = [sum(row[k] for row in counts.values()) for k in (0, 1)]
    for module, (passed, scored) in [*counts.items(), ("**all**", total)]:
        share = f"{100 * passed / scored:.1f} %" if scored else ""
        lines.append(f"| {module} | {passed:,} | {scored:,} | {share} |")
    return "\n".join(lines)


def report_unexplained(unexplained: list) -> bool:
    for test, error in unexplained:
        first = (error or "").splitlines()[0][:150] if error else ""
        print(f"not explained in differences.toml: {test}: {first}")
    return bool(unexplained)


def report_stale(outcomes: dict, differences: list[dict]) -> bool:
    """A difference that no failing test has any more must be removed, so that the list stays true."""
    failing = [test for test, outcome in outcomes.items() if not passes(outcome)]
    stale = False
    for difference in differences:
        for pattern in difference["tests"]:
            if not any(fnmatch.fnmatchcase(test, _pattern(pattern)) for test in failing):
                print(f"passes now, remove it from differences.toml: {pattern}")
                stale = True
    return stale


def passed_of_sample(outcomes: dict) -> list[int]:
    """How many tests of the sample pass, and how many are scored."""
    sampled = [outcome for outcome in outcomes.values() if outcome["sampled"]]
    return [sum(passes(outcome) for outcome in sampled), len(sampled)]


def report_losses(counts: dict) -> bool:
    """Fewer tests pass than recorded."""
    recorded = json.loads(COUNTS.read_text())
    if recorded["scikit-learn"] != sklearn.__version__:
        print(f"recorded with scikit-learn {recorded['scikit-learn']}, not {sklearn.__version__}")
        return False
    lost = [name for name in counts if counts[name][0] < recorded[name][0]]
    for module in lost:
        print(f"{module}: {counts[module][0]} tests pass, {recorded[module][0]} are recorded")
    return bool(lost)


def document(counts: dict, outcomes: dict, differences: list[dict]) -> str:
    failing: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for test, outcome in outcomes.items():
        if not passes(outcome):
            found = explanation(test, differences)
            failing[differences.index(found)][function_of(test)] += 1
    parts = [HEAD.format(version=sklearn.__version__, table=table(counts))]
    for index, difference in enumerate(differences):
        tests = failing[index]
        parts.append(
            f"\n### {difference['title']} ({sum(tests.values())} tests)\n\n{difference['reason'].strip()}\n"
        )
        parts += [f"- `{test}` ({n})" for test, n in sorted(tests.items())]
    return "\n".join(parts) + "\n"


HEAD = """# Mercer in place of scikit-learn

`from sklearn.svm import SVC` becomes `from mercer.svm import SVC`; the same holds for every class and function of the
modules below. Or leave the script as it is: `mercer.patch_sklearn()` before the imports, or `python -m mercer
script.py`, replaces them in scikit-learn itself.

This page is written by `make sklearn-suite`, which runs the tests that scikit-learn {version} ships, unchanged, with
the classes of Mercer in place of its own. A test is scored if it uses a class or function of Mercer, or a class of the
tested modules that Mercer lacks; tests of scikit-learn's internals, skipped tests and those that scikit-learn expects
to fail are not scored.

{table}

## The differences

Every test that does not pass, by cause.
"""

if __name__ == "__main__":
    sys.exit(main())
