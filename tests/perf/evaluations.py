"""What an evaluation takes once everything equal is built, and how often that is: on one core, emulated."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sample import Pair
from yardsticks import process

ROOT = Path(__file__).resolve().parents[2]
_OP = "norm/rmsnorm"
_CHOSEN = "rmsnorm_h*_f16,gemma_rmsnorm_h*_f16"


@dataclass(frozen=True)
class Evaluated:
    """Seconds of each evaluation, those of its parts, and how many builds there were."""

    seconds: list[float]
    spent: list[dict[str, float]]
    builds: int
    whole: float

    @property
    def parts(self) -> dict[str, float]:
        """The median seconds of each part."""
        names = dict.fromkeys(name for one in self.spent for name in one)
        return {name: statistics.median(one.get(name, 0.0) for one in self.spent) for name in names}


def small_op() -> tuple[Pair, int]:
    """Return seconds of an evaluation beside the import of torch, and the builds of all of them."""
    found = evaluated(_CHOSEN)
    yardstick = process([sys.executable, "-c", "import torch"])
    ours = statistics.median(found.seconds)
    return Pair(ours, yardstick, ours / yardstick), found.builds


def evaluated(definitions: str) -> Evaluated:
    """Export an op, and run its solutions on one core."""
    with tempfile.TemporaryDirectory() as folder:
        _fictl("dataset", "export", _OP, "--out", folder)
        chosen = ("--definitions", definitions, "--device", "emu", "--json")
        document = json.loads(_fictl("dataset", "run", folder, *chosen, core="0"))
        facts = [_facts(line) for path in Path(folder).rglob("*.jsonl") for line in path.open()]
    facts = [fact for fact in facts if fact]
    failed = {one["status"] for one in document["data"]["outcomes"]} - {"PASSED"}
    if failed:
        raise RuntimeError(f"evaluations ended with {', '.join(sorted(failed))}")
    # Each of them built by itself where none says what the builder took.
    builds = {fact.get("build_seconds", fact["solution_hash"]) for fact in facts}
    return Evaluated(
        [fact["seconds"] for fact in facts],
        [fact.get("spent", {}) for fact in facts],
        len(builds),
        document["data"]["seconds"],
    )


def _facts(line: str) -> dict[str, Any]:
    evaluation = json.loads(line).get("evaluation")
    return evaluation["fictl"] if evaluation else {}


def _fictl(*words: str, core: str = "") -> str:
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    argv = [*(["taskset", "-c", core] if core else []), sys.executable, "-m", "fictl", *words]
    return subprocess.run(
        argv, env={**os.environ, "PYTHONPATH": path}, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


if __name__ == "__main__":
    found = evaluated(sys.argv[1] if len(sys.argv) > 1 else _CHOSEN)
    print(f"{len(found.seconds)} evaluations in {found.whole:.1f} s, builds: {found.builds}")
    print(f"median {statistics.median(found.seconds):.2f} s each, of that {found.parts}")
