"""Everything that needs a GPU, in one go with a short table last: `make gpu`.

`make gpu ARGS="engines --within 540"` runs one group of steps (steps.py) and begins none that the time
is too short for. Logs and results go to --out.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from steps import ROOT, Step, groups

_SHORTEST_S = 20
_LINES_SHOWN = 14


@dataclass(frozen=True)
class Outcome:
    step: Step
    result: str
    seconds: float = 0.0
    last: str = ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="groups or steps to run; default: basics")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "gpu")
    parser.add_argument("--within", type=float, default=float("inf"), metavar="SECONDS")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    outcomes = [*ran(chosen(options.names, options.out), options.out, options.within)]
    print(f"\n{'step':22}{'result':>10}{'seconds':>10}  last line")
    for one in outcomes:
        print(f"{one.step.name:22}{one.result:>10}{one.seconds:>10.1f}  {one.last[:90]}")
    return int(any(one.result not in ("ok", "absent") for one in outcomes))


def chosen(names: Sequence[str], out: Path) -> list[Step]:
    known = groups(out)
    steps = {step.name: (step,) for group in known.values() for step in group}
    unknown = {*names} - {*known, *steps}
    if unknown:
        sys.exit(
            f"{', '.join(sorted(unknown))}: neither a group nor a step\n"
            f"groups: {', '.join(known)}; steps: {', '.join(steps)}"
        )
    return [step for name in names or ("basics",) for step in {**steps, **known}[name]]


def ran(steps: Sequence[Step], out: Path, within: float) -> Iterator[Outcome]:
    deadline = time.monotonic() + within
    for step in steps:
        left = deadline - time.monotonic()
        yield (
            run(step, out, min(step.limit_s, left))
            if left > _SHORTEST_S
            else Outcome(step, "not run", last=f"{max(left, 0):.0f} s were left")
        )


def run(step: Step, out: Path, limit_s: float) -> Outcome:
    print(f"$ {' '.join(step.argv)}", flush=True)
    start = time.monotonic()
    env = {
        **os.environ,
        "PYTEST_ADDOPTS": "-p no:benchmark",  # It warns about xdist, and warnings are errors.
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
    }
    log = out / f"{step.name}.log"
    with log.open("w", encoding="utf-8") as file:
        try:
            code = subprocess.run(
                step.argv, cwd=ROOT, env=env, stdout=file, stderr=file, timeout=limit_s
            ).returncode
        except FileNotFoundError:
            return Outcome(step, "absent", last=f"{step.argv[0]} is not installed")
        except subprocess.TimeoutExpired:
            code = 124
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    print("\n".join(line[:200] for line in worth_showing(lines, code)), flush=True)
    result = "ok" if code == 0 else f"exit {code}"
    return Outcome(step, result, time.monotonic() - start, (lines or [""])[-1])


def worth_showing(lines: Sequence[str], code: int) -> list[str]:
    """Return the last lines; of a failed step, what pytest says of each failure before them."""
    last = [*lines[-_LINES_SHOWN:]]
    if code == 0:
        return last
    marks = ("FAILED ", "ERROR ", "E  ")
    errors = [
        line
        for line in lines[:-_LINES_SHOWN]
        if line.startswith(marks) or "] FAILED " in line or "] ERROR " in line
    ]
    return [*errors[:30], *last]


if __name__ == "__main__":
    sys.exit(main())
