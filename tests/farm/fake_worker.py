"""A worker of the standard library alone: its results name what they are of, and it misbehaves on
demand, so that a run of hundreds of evaluations costs seconds and a wrong result shows.
"""

from __future__ import annotations

import json
from pathlib import Path

from fictl.farm.line import PROTOCOL
from fictl.version import VERSION, commit
from tests.dataset.samples import evaluation

from .scripts import script

_READY = {
    "kind": "Ready",
    "protocol": PROTOCOL,
    "fictl": VERSION,
    "commit": commit(),
    "python": "3",
    "hardware": "NVIDIA_H200",
}
_EVALUATION = json.loads(evaluation().model_dump_json())
_CODE = f"""
import json, os, random, signal, sys, time
READY, RESULT = {_READY!r}, {_EVALUATION!r}
"""
_LOOP = """
def send(**message):
    line = json.dumps(message).encode() + b"\\n"
    while line:
        line = line[os.write(1, line):]

def evaluated(solution, workload):
    return json.dumps({**RESULT, "log": f"{solution}/{workload}"})

def answer(solution, workload, number):
    send(kind="Evaluated", evaluation=evaluated(solution, workload), number=number)

def main():
    json.loads(sys.stdin.readline())
    send(**READY)
    for line in sys.stdin:
        request = json.loads(line)
        if request["kind"] == "JobStarted":
            solution = json.loads(request["solution"])["name"]
            continue
        workload = json.loads(request["workload"])["uuid"]
        misbehave(solution, workload, request["number"])
        answer(solution, workload, request["number"])
"""
OBEDIENT = "def misbehave(solution, workload, number): pass\n"


def fake_worker(folder: Path, misbehave: str = OBEDIENT, before: str = "") -> str:
    """Write a program that runs `before`, then serves, and calls `misbehave` at each request."""
    return script(folder, _CODE + _LOOP + misbehave + before + "\nmain()\n")


def places_file(path: Path, programs: dict[str, str], count: int = 1) -> Path:
    """Write a file of places: `count` for each program, reached by a command."""
    tables = [
        f'[[place]]\nname = "{name}{{1..{count}}}"\nlaunch = ["env"]\npython = "{program}"\n'
        for name, program in programs.items()
    ]
    path.write_text("\n".join(tables), encoding="utf-8")
    return path
