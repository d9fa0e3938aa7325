"""One cell of the comparison: contestants that do the same job, each in a process of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

BENCH = Path(__file__).resolve().parent
DATA = BENCH / "data"
# Real data, where it is there; cells make up their own where it is not.
SHARED = BENCH.parent.parent / "shared/data"


@dataclass
class Contestant:
    """A command that prints one JSON object with the seconds of each stage."""

    who: str
    command: list
    ours: bool = False


@dataclass
class Cell:
    name: str
    what: str
    contestants: list
    stages: tuple = ("seconds",)
    prepare: callable = lambda: None
    check: callable = field(default=lambda answers: None)

    def run(self, repeat):
        """One result a stage."""
        self.prepare()
        answers = {c.who: [] for c in self.contestants}
        # Turns alternate, so that a slow moment of the machine hits everybody.
        for _ in range(repeat):
            for c in self.contestants:
                told, megabytes = measured(c.command)
                answers[c.who].append({**told, "megabytes": megabytes})
        self.check({who: told[-1] for who, told in answers.items()})
        return [self.result(stage, answers) for stage in self.stages]

    def result(self, stage, answers):
        runs = [
            {
                "who": c.who,
                "ours": c.ours,
                "seconds": min(told[stage] for told in answers[c.who]),
                "megabytes": max(told["megabytes"] for told in answers[c.who]),
            }
            for c in self.contestants
        ]
        named = stage != "seconds"
        return {
            "name": f"{self.name}-{stage}" if named else self.name,
            "what": f"{self.what}: {stage}" if named else self.what,
            "runs": runs,
        }


def measured(command):
    """Runs a command; its JSON and its peak memory in megabytes."""
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} failed with {process.returncode}")
    return json.loads(out), usage.ru_maxrss / 1024


def python(code, *args):
    """A contestant written in Python."""
    return [sys.executable, "-c", code, *args]
