"""Tries the eight guarantees of the README and writes the table of docs/reliability.md: `make promises`.

Counts come from two sources. Tests print a line `promise N: TRIES what, FAILURES failures` for the laws that they check
in the library. This script tries the rest from outside, with the command `mercer` as a process: exit codes, bytes of
model files over numbers of threads, interrupts, kills during saves, peak memory, columns by name.
"""

import argparse
import csv
import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
PAGE = REPOSITORY / "docs" / "reliability.md"
BEGIN, END = "<!-- promises: begin -->", "<!-- promises: end -->"
GUARANTEES = {
    1: "no input crashes; the right exit code",
    2: "nothing in silence",
    3: "the same bytes for any number of threads",
    4: "every fit ends, with a true certificate",
    5: "Ctrl-C within a second",
    6: "atomic saves; a model file is data",
    7: "memory budgets",
    8: "columns by name, the most probable class",
}
# Tests of the library that print their counts.
TESTS = ["damaged_", "mutated_files", "in_extended_precision", "soon_after_its_deadline"]
# How long an interrupted process may take, and the memory beyond its budget.
SECOND, SLACK_BYTES = 1.0, 40e6


class Table:
    """Tries and failures by guarantee."""

    def __init__(self):
        self.rows = {k: [] for k in GUARANTEES}

    def add(self, promise, tries, what, failures):
        failures = list(failures)
        self.rows[promise].append((what, tries, len(failures)))
        print(f"promise {promise}: {tries} {what}, {len(failures)} failures", flush=True)
        for failure in failures[:20]:
            print(f"    {failure}", flush=True)

    def failures(self):
        return sum(failures for rows in self.rows.values() for _, _, failures in rows)

    def markdown(self):
        lines = ["| guarantee | tries | failures |", "|---|---|---|"]
        for k, name in GUARANTEES.items():
            rows = self.rows[k]
            tries = "; ".join(f"{n:,} {what}" for what, n, _ in rows)
            lines.append(f"| {k}. {name} | {tries} | {sum(f for _, _, f in rows)} |")
        return "\n".join(lines)


class Mercer:
    """Runs the command in a folder."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder

    def start(self, *arguments):
        pipe = subprocess.PIPE
        command = [self.binary, *map(str, arguments)]
        return subprocess.Popen(command, cwd=self.folder, stdout=pipe, stderr=pipe, text=True)

    def run(self, *arguments):
        process = self.start(*arguments)
        output, messages = process.communicate()
        return process.returncode, output, messages

    def measured(self, *arguments):
        """Exit code and peak memory in bytes."""
        with open(os.devnull, "w") as null:
            command = [self.binary, *map(str, arguments)]
            process = subprocess.Popen(command, cwd=self.folder, stdout=null, stderr=null)
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, usage.ru_maxrss * 1024

    def estimators(self):
        _, output, _ = self.run("models", "--json")
        return json.loads(output)


def write_rows(path, n_rows, n_columns, *, seed=1, n_classes=3, target="class"):
    """Numeric columns that depend on the class, a class and a number."""
    dice = random.Random(seed)
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow([f"x{j}" for j in range(n_columns)] + ["class", "amount"])
        for i in range(n_rows):
            c = i % n_classes
            cells = [round(dice.gauss(c * (1 + j % 3), 1.5), 4) for j in range(n_columns)]
            out.writerow([*cells, f"c{c}", round(sum(cells) + dice.gauss(0, 1), 4)])


def task_of(card):
    """The options that give an estimator its target."""
    can = card["capabilities"]
    if "classifier" in can:
        return ["--target", "class", "--ignore", "amount"]
    if "regressor" in can:
        return ["--target", "amount", "--ignore", "class"]
    return ["--ignore", "amount", "--ignore", "class"]


def exit_codes(mercer, table):
    """Wrong input of every kind ends with its code and a message, and never with a signal or a panic."""
    folder = mercer.folder
    (folder / "empty.csv").write_text("")
    (folder / "header.csv").write_text("a,b\n")
    (folder / "ragged.csv").write_text("a,b\n1,2\n3\n")
    (folder / "one.csv").write_text("a,class\n1,x\n2,x\n3,x\n")
    (folder / "binary.csv").write_bytes(bytes(range(256)) * 8)
    (folder / "text.csv").write_text("a,class\nx,p\ny,q\n")
    (folder / "noise.mercer").write_bytes(b"\x10\0\0\0\0\0\0\0 not a model file")
    (folder / "notes.txt").write_text("mine")
    train = ["train", "iris.csv", "--target", "class", "--ignore", "amount", "--folds", "0"]
    strict = [*train, "--strict", "--no-report", "--force", "--out", "s.mercer"]
    cases = [
        (2, ["train"]),
        (2, ["train", "iris.csv", "--target", "class", "--model", "no-such-estimator"]),
        (2, [*train, "--model", "svc", "--set", "C=-1"]),
        (2, [*train, "--model", "svc", "--set", "no_such=1"]),
        (2, [*train, "--no-such-option"]),
        (3, ["train", "missing.csv", "--target", "a"]),
        (3, ["train", "empty.csv", "--target", "a"]),
        (3, ["train", "header.csv", "--target", "b"]),
        (3, ["train", "ragged.csv", "--target", "b"]),
        (3, ["train", "one.csv", "--target", "class", "--model", "svc"]),
        (3, ["train", "binary.csv", "--target", "b"]),
        (3, ["train", "iris.csv", "--target", "no such column"]),
        (3, [*train, "--model", "qda", "--features", "poly:6"]),
        (4, ["predict", "noise.mercer", "iris.csv"]),
        (4, ["inspect", "iris.csv"]),
        (5, [*train, "--model", "kernel-pca", "--memory", "1K"]),
        (5, [*train, "--model", "svc", "--memory", "1K"]),
        (6, [*strict, "--model", "svc", "--set", "max_iter=1"]),
        (6, [*strict, "--model", "nu-svc", "--set", "nu=0.2", "--set", "max_iter=1"]),
        (6, [*strict, "--model", "linear-svc", "--set", "max_iter=1"]),
        (6, [*strict, "--model", "logistic", "--set", "max_iter=1"]),
        (6, [*strict, "--model", "mlp", "--set", "max_iter=2"]),
    ]
    failures = []
    for expected, arguments in cases:
        code, _, messages = mercer.run(*arguments)
        if code != expected or "panicked" in messages or not messages.strip():
            failures.append(f"{' '.join(arguments)}: exit {code}, not {expected}: {messages[:200]}")
    kept = mercer.run(*train, "--model", "gaussian-nb", "--out", "notes.txt")
    if kept[0] == 0 or (folder / "notes.txt").read_text() != "mine":
        failures.append("--out replaced a file that is no model")
    table.add(1, len(cases) + 1, "commands with wrong input", failures)


def reported(mercer, table):
    """Missing values, dropped columns and unseen categories are named or counted."""
    folder = mercer.folder
    dice = random.Random(5)
    with open(folder / "mixed.csv", "w") as file:
        file.write("number,word,constant,class,amount\n")
        for i in range(120):
            number = "" if i % 11 == 3 else f"{dice.gauss(i % 2, 1):.3f}"
            file.write(
                f"{number},{'red' if i % 3 else 'blue'},7,c{i % 2},{dice.gauss(i % 2, 1):.3f}\n"
            )
    (folder / "unseen.csv").write_text("number,word,constant\n0.5,green,7\n1.5,red,7\n")
    failures, tries = [], 0
    for card in mercer.estimators():
        if "classifier" not in card["capabilities"] and "regressor" not in card["capabilities"]:
            continue
        name = card["id"]
        settings = ["--set", "reg_param=0.1"] if name == "qda" else []
        out = ["--out", f"{name}-mixed.mercer", "--no-report", "--folds", "0", "--force"]
        code, output, messages = mercer.run(
            "train", "mixed.csv", *task_of(card), "--model", name, *settings, *out
        )
        tries += 1
        both = output + messages
        if code != 0:
            # Equal rows of both classes have no margin, which is refused with the remedy.
            if name != "nu-svc":
                failures.append(f"{name}: exit {code}: {messages[:200]}")
            continue
        if "constant" not in both or "missing" not in both:
            failures.append(f"{name}: says nothing of a constant column or missing values")
        _, output, messages = mercer.run("predict", f"{name}-mixed.mercer", "unseen.csv")
        if (
            "dropped columns: `word`" not in both
            and "categories that the training data does not" not in messages
        ):
            failures.append(f"{name}: says nothing of an unseen category: {messages[:200]}")
    table.add(
        2, 3 * tries, "reports of missing values, dropped columns and unseen categories", failures
    )


def same_bytes(mercer, table):
    """Models and predictions of every estimator with 1, 2, 3 and 8 threads."""
    failures, tries = [], 0
    for card in mercer.estimators():
        name = card["id"]
        found = []
        for threads in [1, 2, 3, 8]:
            model = f"{name}-{threads}.mercer"
            code, _, messages = mercer.run(
                "train", "rows.csv", *task_of(card), "--model", name, "--threads", threads,
                "--folds", "0", "--no-report", "--force", "--out", model,
            )  # fmt: skip
            if code != 0:
                failures.append(f"{name}: exit {code}: {messages[:200]}")
                break
            _, predictions, _ = mercer.run("predict", model, "rows.csv", "--threads", threads)
            found.append(((mercer.folder / model).read_bytes(), predictions))
        tries += len(found)
        if any(other != found[0] for other in found):
            failures.append(f"{name}: the bytes depend on the number of threads")
    table.add(3, tries, "models and predictions with 1, 2, 3 and 8 threads", failures)


def interrupts(mercer, table, bulk):
    """SIGINT during long fits; the file that was there stays, and `--keep-best` saves a model."""
    cases = ["svc", "nu-svc", "kernel-ridge", "kernel-pca", "kernel-k-means", "svr", "mlp", "nystroem",
             "logistic-cv", "one-class-svm", "nu-svr", "kernel-perceptron"]  # fmt: skip
    cards = {card["id"]: card for card in mercer.estimators()}
    settings = {"nystroem": ["--set", "n_components=4000"], "mlp": ["--set", "max_iter=100000"],
                "logistic-cv": ["--set", "Cs=200"]}  # fmt: skip
    failures, tries = [], 0
    for name in cases:
        for keep in [False, True]:
            model = mercer.folder / f"kept-{name}-{keep}.mercer"
            model.write_bytes((mercer.folder / "gaussian-nb-1.mercer").read_bytes())
            before = model.read_bytes()
            best = ["--keep-best"] if keep else []
            process = mercer.start(
                "train", bulk, *task_of(cards[name]), "--model", name, *settings.get(name, []), *best,
                "--folds", "0", "--no-report", "--force", "--out", model,
            )  # fmt: skip
            time.sleep(1.5)
            if process.poll() is not None:
                process.communicate()
                continue
            tries += 1
            started = time.monotonic()
            process.send_signal(signal.SIGINT)
            try:
                _, messages = process.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                _, messages = process.communicate()
            waited = time.monotonic() - started
            if waited > SECOND + 0.1:
                failures.append(f"{name}, keep-best {keep}: {waited:.1f} s")
            changed = model.read_bytes() != before
            if not keep and changed:
                failures.append(f"{name}: the old file was changed")
            if keep and process.returncode != 130:
                failures.append(f"{name}: exit {process.returncode}: {messages[-200:]}")
            if keep and changed and mercer.run("inspect", model)[0] != 0:
                failures.append(f"{name}: what was kept cannot be read")
            if keep and not changed and "could return a model" not in messages:
                failures.append(f"{name}: --keep-best saved nothing: {messages[-200:]}")
    table.add(5, tries, "processes interrupted", failures)


def kills(mercer, table, n_kills):
    """SIGKILL at random times of a loop of saves: the file is the old model or the new one, and nothing else stays."""
    dice = random.Random(9)
    folder = mercer.folder / "kills"
    folder.mkdir()
    model = folder / "model.mercer"
    train = [
        "train",
        "rows.csv",
        "--target",
        "class",
        "--ignore",
        "amount",
        "--folds",
        "0",
        "--no-report",
        "--force",
    ]
    whole = []
    for name in ["svc", "lda"]:
        mercer.run(*train, "--model", name, "--out", model)
        whole.append(model.read_bytes())
    started = time.monotonic()
    mercer.run(*train, "--model", "svc", "--out", model)
    duration = time.monotonic() - started
    failures = []
    for k in range(n_kills):
        process = mercer.start(*train, "--model", ["svc", "lda"][k % 2], "--out", model)
        time.sleep(duration * dice.uniform(0.5, 1.1))
        process.kill()
        process.communicate()
        if model.read_bytes() not in whole:
            failures.append(f"kill {k}: the file is neither model")
    # Temporary files of dead processes are removed once they are a minute old.
    for path in folder.iterdir():
        os.utime(path, (time.time() - 3600,) * 2)
    mercer.run(*train, "--model", "lda", "--out", model)
    left = sorted(path.name for path in folder.iterdir())
    if left != ["model.mercer"]:
        failures.append(f"left behind: {left}")
    table.add(6, n_kills, "kills during training and saving", failures)


def memory(mercer, table, bulk):
    """Peak memory within the budget and 40 MB, or refusal."""
    cards = {card["id"]: card for card in mercer.estimators()}
    names = ["svr", "svc", "nu-svc", "one-class-svm", "kernel-ridge", "kernel-pca", "logistic", "linear-svc",
             "sgd", "mlp", "lda", "gaussian-nb", "mixed-nb", "rbf-sampler", "nystroem", "kernel-k-means"]  # fmt: skip
    failures, tries = [], 0
    for name in names:
        for megabytes in [20, 60, 100, 200]:
            code, peak = mercer.measured(
                "train", bulk, *task_of(cards[name]), "--model", name, "--memory", f"{megabytes}M",
                "--folds", "0", "--no-report", "--force", "--out", "budget.mercer", "--time-limit", "20s",
            )  # fmt: skip
            tries += 1
            if code not in (0, 5):
                failures.append(f"{name} with {megabytes} MB: exit {code}")
            if peak > megabytes * 1e6 + SLACK_BYTES:
                failures.append(f"{name} with {megabytes} MB: {peak / 1e6:.0f} MB, exit {code}")
    table.add(7, tries, "fits under a budget, peak memory at most 40 MB above it", failures)


def by_name(mercer, table):
    """Permuted columns change no prediction, and the predicted class has the largest probability."""
    with open(mercer.folder / "rows.csv") as file:
        rows = list(csv.reader(file))
    order = list(range(len(rows[0])))
    random.Random(2).shuffle(order)
    with open(mercer.folder / "permuted.csv", "w", newline="") as file:
        csv.writer(file).writerows([[row[j] for j in order] for row in rows])
    failures, tries = [], 0
    for card in mercer.estimators():
        model = f"{card['id']}-1.mercer"
        if not (mercer.folder / model).exists():
            continue
        tries += len(rows) - 1
        plain, permuted = (
            mercer.run("predict", model, data) for data in ["rows.csv", "permuted.csv"]
        )
        if plain[:2] != permuted[:2]:
            failures.append(f"{card['id']}: predictions depend on the order of the columns")
        code, output, _ = mercer.run("predict", model, "rows.csv", "--proba")
        if "classifier" not in card["capabilities"] or code != 0:
            continue
        header, *lines = csv.reader(io.StringIO(output))
        names = [name.split("=")[-1].removeprefix("p(").rstrip(")") for name in header[1:]]
        for line in lines:
            best = max(range(len(names)), key=lambda k: (float(line[1 + k]), -k))
            if not names[best].endswith(line[0]):
                failures.append(f"{card['id']}: {line} in {header}")
                break
    table.add(8, tries, "rows predicted from permuted columns, argmax compared", failures)


def library(table):
    """The counts that tests print."""
    command = [
        "cargo",
        "test",
        "--workspace",
        "--all-features",
        "--locked",
        "--test",
        "suite",
        "--",
    ]
    done = subprocess.run(
        [*command, "--nocapture", *TESTS], cwd=REPOSITORY, text=True, stdout=subprocess.PIPE
    )
    found = re.findall(r"^promise (\d): (\d+) (.*), (\d+) failures$", done.stdout, re.MULTILINE)
    for promise, tries, what, failures in found:
        table.add(int(promise), int(tries), what, ["see the test"] * int(failures))
    if done.returncode != 0 or not found:
        table.add(4, 1, "run of the tests", ["the tests failed"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mercer", help="the command [default: the newest build in target]")
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument(
        "--no-library", action="store_true", help="leave out the tests of the library"
    )
    parser.add_argument("--no-page", action="store_true", help="do not write docs/reliability.md")
    options = parser.parse_args()
    builds = [REPOSITORY / "target" / kind / "mercer" for kind in ["release", "debug"]]
    built = [path for path in builds if path.exists()]
    binary = options.mercer or str(max(built, key=lambda path: path.stat().st_mtime))
    table = Table()
    with tempfile.TemporaryDirectory() as folder:
        mercer = Mercer(binary, Path(folder))
        write_rows(mercer.folder / "iris.csv", 150, 4)
        write_rows(mercer.folder / "rows.csv", 400, 5)
        write_rows(mercer.folder / "bulk.csv", 12_000, 10, n_classes=2)
        exit_codes(mercer, table)
        reported(mercer, table)
        same_bytes(mercer, table)
        by_name(mercer, table)
        interrupts(mercer, table, "bulk.csv")
        kills(mercer, table, options.kills)
        memory(mercer, table, "bulk.csv")
    if not options.no_library:
        library(table)
    print(table.markdown())
    if not options.no_page:
        text = PAGE.read_text()
        before, rest = text.split(BEGIN)
        after = rest.split(END)[1]
        PAGE.write_text(f"{before}{BEGIN}\n{table.markdown()}\n{END}{after}")
    return 1 if table.failures() else 0


if __name__ == "__main__":
    sys.exit(main())
