"""Everything that needs a GPU, in one go with a short table last: `make gpu`.

Build for the GPU present, the whole test suite, compute-sanitizer over the ops, the profilers, the promised numbers,
and `scale` against torch. Logs and results go to --out.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


OPS = ("scale", "rmsnorm", "segment_sum")


@dataclass(frozen=True)
class Step:
    name: str
    argv: tuple[str, ...]
    limit_s: int


def steps(out: Path) -> list[Step]:
    python, pytest = sys.executable, (sys.executable, "-m", "pytest", "-q")
    fictl = (python, "-m", "fictl")
    return [
        Step("build", (*fictl, "build", *OPS), 120),
        Step("doctor", (*fictl, "doctor"), 120),
        Step(
            "aot",
            (*fictl, "aot", "build", "--out", str(ROOT / "build" / "prebuilt")),
            120,
        ),
        Step("verify", (*fictl, "aot", "verify", str(ROOT / "build" / "prebuilt")), 60),
        Step("test", (*fictl, "test", *OPS), 300),
        Step("emulated", (*fictl, "sanitize", *OPS, "--device", "emu", "-k", "not builds"), 300),
        Step(
            "suite", (*pytest, "tests", "--ignore=tests/test_packaging.py", "--numprocesses=8"), 420
        ),
        Step("sanitize", (*fictl, "sanitize", *OPS, "-k", "not 2_to_the_31"), 400),
        Step("inspect", (*fictl, "inspect", *OPS, "--gate", "spill_bytes==0"), 60),
        *(
            Step(tool, (*fictl, "profile", "rmsnorm", "--tool", tool, "--out", str(out)), 60)
            for tool in ("cupti", "ncu", "events")
        ),
        Step("perf", (python, "tests/perf/run.py", "--save", str(out / "perf.json")), 300),
        Step("bench", (python, "tests/gpu/bench.py", "--save", str(out / "scale.json")), 120),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="steps to run; default: all")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "gpu")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    wanted = [s for s in steps(options.out) if not options.names or s.name in options.names]
    results = [(step.name, *run(step, options.out)) for step in wanted]
    print(f"\n{'step':12}{'result':>10}{'seconds':>10}  last line")
    for name, result, seconds, last in results:
        print(f"{name:12}{result:>10}{seconds:>10.1f}  {last[:90]}")
    return int(any(result not in ("ok", "absent") for _, result, _, _ in results))


def run(step: Step, out: Path) -> tuple[str, float, str]:
    print(f"$ {' '.join(step.argv)}", flush=True)
    start = time.monotonic()
    env = {
        **os.environ,
        "PYTEST_ADDOPTS": "-p no:benchmark",  # It warns about xdist, and warnings are errors.
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
    }
    try:
        done = subprocess.run(
            step.argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=step.limit_s
        )
        code, output = done.returncode, done.stdout + done.stderr
    except FileNotFoundError:
        return "absent", 0.0, f"{step.argv[0]} is not installed"
    except subprocess.TimeoutExpired as error:
        code, output = 124, _text(error.stdout) + _text(error.stderr)
    (out / f"{step.name}.log").write_text(output, encoding="utf-8")
    print("\n".join(output.splitlines()[-40 if code else -12 :]), flush=True)
    lines = [line for line in output.splitlines() if line.strip()]
    return ("ok" if code == 0 else f"exit {code}"), time.monotonic() - start, (lines or [""])[-1]


def _text(output: bytes | str | None) -> str:
    return output.decode(errors="replace") if isinstance(output, bytes) else output or ""


if __name__ == "__main__":
    sys.exit(main())
