"""Datasets: 10,000 traces validated; memory while 100,000 workloads stream (run it as a script)."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from sample import Pair, interleave, timed
from yardsticks import parsed_lines

ROOT = str(Path(__file__).resolve().parents[2])
_STREAM = """
import sys
from fictl.trace import TraceSet
count = sum(1 for _ in TraceSet.from_path(sys.argv[1]).workloads())
peak = next(l for l in open("/proc/self/status") if l.startswith("VmHWM")).split()[1]
print(count, int(peak) // 1024)
"""
_DEFINITION = {
    "name": "rmsnorm_h4096",
    "op_type": "rmsnorm",
    "axes": {"rows": {"type": "var"}, "hidden": {"type": "const", "value": 4096}},
    "constraints": ["rows >= 1"],
    "inputs": {
        "input": {"shape": ["rows", "hidden"], "dtype": "bfloat16"},
        "weight": {"shape": ["hidden"], "dtype": "bfloat16"},
        "eps": {"shape": None, "dtype": "float32"},
    },
    "outputs": {"out": {"shape": ["rows", "hidden"], "dtype": "bfloat16"}},
    "reference": "def run(input, weight, eps):\n    return input\n",
}
_SOLUTION = {
    "name": "fast",
    "definition": "rmsnorm_h4096",
    "author": "me",
    "spec": {"language": "python", "target_hardware": ["cuda"], "entry_point": "main.py::run"},
    "sources": [{"path": "main.py", "content": "def run(input, weight, eps, out): ...\n"}],
}
_EVALUATION = {
    "status": "PASSED",
    "environment": {"hardware": "NVIDIA_H200", "libs": {"torch": "2.11.0"}},
    "timestamp": "2026-01-01T00:00:00",
    "log": "a line of a build\n" * 50,
    "correctness": {"max_relative_error": 1e-3, "max_absolute_error": 1e-3},
    "performance": {"latency_ms": 1.0, "reference_latency_ms": 2.0, "speedup_factor": 2.0},
}


def make(root: Path, workloads: int, traces: int) -> None:
    from fictl.trace import Definition, Evaluation, Solution, Trace, TraceSet, Workload

    dataset = TraceSet(root)
    dataset.add_definition(Definition.model_validate(_DEFINITION))
    dataset.add_solution(Solution.model_validate(_SOLUTION))
    inputs = {
        "input": {"type": "random"},
        "weight": {"type": "random"},
        "eps": {"type": "scalar", "value": 1e-6},
    }
    made = [
        Workload.model_validate({"axes": {"rows": i + 1}, "inputs": inputs, "uuid": f"w{i}"})
        for i in range(workloads)
    ]
    dataset.add_workloads("rmsnorm_h4096", made)
    evaluation = Evaluation.model_validate(_EVALUATION)
    dataset.add_traces(
        Trace(definition="rmsnorm_h4096", workload=w, solution="fast", evaluation=evaluation)
        for w in made[:traces]
    )


def validate() -> Pair:
    """The whole command, with its start."""
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder), 10_000, 10_000)
        argv = [sys.executable, "-m", "fictl", "dataset", "validate", folder]
        lines = [*Path(folder).rglob("*.jsonl")]
        yardstick = lambda: sum(map(parsed_lines, lines))  # noqa: E731
        return interleave(lambda: timed(lambda: _run(argv)), yardstick, 3)


def streamed(workloads: int) -> tuple[int, int]:
    """How many were read, and the most memory that the process had, in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder), workloads, 0)
        count, peak = _run([sys.executable, "-c", _STREAM, folder]).split()
        return int(count), int(peak)


def _run(argv: list[str]) -> str:
    path = os.pathsep.join([ROOT, os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(argv, env=env, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.path.insert(0, ROOT)
    for workloads in (1_000, 10_000, 100_000):
        count, peak = streamed(workloads)
        print(f"{count:>7} workloads streamed: {peak} MiB at most")
