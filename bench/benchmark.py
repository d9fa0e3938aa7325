"""One cell of the comparison: implementations of the same job, each run in its own process."""

import datetime
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

BENCH = Path(__file__).resolve().parent
DATA = BENCH / "data"
# Real data sets; a cell draws random data of the same shape if its data set is missing.
SHARED = BENCH.parent.parent / "shared/data"

# Measures of the result that are recorded beside its time.
QUALITY = ("accuracy", "error", "objective")


@dataclass
class Implementation:
    """A command that prints one JSON object with the seconds of each stage."""

    name: str
    command: list
    ours: bool = False


@dataclass
class Cell:
    name: str
    what: str
    implementations: list
    stages: tuple = ("seconds",)
    prepare: callable = lambda: None
    check: callable = field(default=lambda answers: None)

    def run(self, repeat):
        """Returns one result per stage."""
        self.prepare()
        answers = {c.name: [] for c in self.implementations}
        # Runs are interleaved, so that a slow period of the machine affects all implementations.
        for _ in range(repeat):
            for c in self.implementations:
                result, megabytes = measured(c.command)
                answers[c.name].append({**result, "megabytes": megabytes})
        self.check({label: result[-1] for label, result in answers.items()})
        return [self.result(stage, answers) for stage in self.stages]

    def result(self, stage, answers):
        runs = [
            {
                "implementation": c.name,
                "ours": c.ours,
                "seconds": min(result[stage] for result in answers[c.name]),
                "megabytes": max(result["megabytes"] for result in answers[c.name]),
                **{key: answers[c.name][-1][key] for key in QUALITY if key in answers[c.name][-1]},
            }
            for c in self.implementations
        ]
        named = stage != "seconds"
        return {
            "name": f"{self.name}-{stage}" if named else self.name,
            "what": f"{self.what}: {stage}" if named else self.what,
            "date": datetime.date.today().isoformat(),
            "runs": runs,
        }


def measured(command):
    """Runs a command and returns its JSON output and its peak memory in megabytes."""
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} failed with {process.returncode}")
    return json.loads(out), usage.ru_maxrss / 1024


def python(code, *args):
    """The command that runs Python code."""
    return [sys.executable, "-c", code, *args]
