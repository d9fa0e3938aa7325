"""One cell of the comparison: contestants that do the same job, each in a process of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

BENCH = Path(__file__).resolve().parent
DATA = BENCH / "data"


@dataclass
class Contestant:
    """A command that prints one JSON object with the seconds of each stage."""

    who: str
    command: list
    stage: str = "seconds"
    ours: bool = False


@dataclass
class Cell:
    name: str
    what: str
    contestants: list
    prepare: callable = lambda: None
    check: callable = field(default=lambda answers: None)

    def run(self, repeat):
        self.prepare()
        best, memory, answers = {}, {}, {}
        # Turns alternate, so that a slow moment of the machine hits everybody.
        for _ in range(repeat):
            for c in self.contestants:
                told, megabytes = measured(c.command)
                answers[c.who] = told
                best[c.who] = min(best.get(c.who, float("inf")), told[c.stage])
                memory[c.who] = max(memory.get(c.who, 0), megabytes)
        self.check(answers)
        runs = [
            {"who": c.who, "ours": c.ours, "seconds": best[c.who], "megabytes": memory[c.who]}
            for c in self.contestants
        ]
        return {"name": self.name, "what": self.what, "runs": runs}


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
