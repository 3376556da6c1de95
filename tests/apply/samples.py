"""A dataset of additions whose solutions add a mark of their own, evaluated on this CPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fictl.judge.hardware import hardware_name
from fictl.trace import Definition, Evaluation, Solution, Trace, TraceSet, Workload

# What the solutions add to the sum, so that a result names who made it.
FAST, SLOW = 100.0, 200.0
HERE = hardware_name("cpu")


def definition(name: str = "add", outputs: tuple[str, ...] = ("Z",)) -> Definition:
    spec = {"shape": ["M", "N"], "dtype": "float32"}
    return Definition.model_validate(
        {
            "name": name,
            "op_type": "op",
            "axes": {"M": {"type": "var"}, "N": {"type": "const", "value": 4}},
            "inputs": {"X": spec, "Y": spec},
            "outputs": dict.fromkeys(outputs, spec),
            "reference": "def run(X, Y):\n    return X + Y\n",
        }
    )


def solution(
    name: str, code: str, of: str = "add", writes: bool = False, author: str = "me"
) -> Solution:
    return Solution.model_validate(
        {
            "name": name,
            "definition": of,
            "author": author,
            "spec": {
                "language": "python",
                "target_hardware": ["cpu"],
                "entry_point": "main.py::run",
                "destination_passing_style": writes,
            },
            "sources": [{"path": "main.py", "content": code}],
        }
    )


def returning(name: str, mark: float, of: str = "add") -> Solution:
    return solution(name, f"def run(X, Y):\n    return X + Y + {mark}\n", of)


def writing(name: str, mark: float, of: str = "add") -> Solution:
    return solution(name, f"def run(X, Y, Z):\n    Z.copy_(X + Y + {mark})\n", of, writes=True)


def trace(
    of: Solution,
    m: int,
    speedup: float,
    status: str = "PASSED",
    hardware: str = HERE,
    uuid: str = "",
    **facts: Any,
) -> Trace:
    is_passed = status == "PASSED"
    measured = {"latency_ms": 1 / speedup, "reference_latency_ms": 1.0, "speedup_factor": speedup}
    evaluation = Evaluation.model_validate(
        {
            "status": status,
            "environment": {"hardware": hardware},
            "timestamp": "2026-11-23T12:00:00+00:00",
            "correctness": {"max_absolute_error": 1e-3} if is_passed else None,
            "performance": measured if is_passed else None,
            "fictl": {"solution_hash": of.hash(), **facts},
        }
    )
    inputs = {"X": {"type": "random"}, "Y": {"type": "random"}}
    workload = Workload.model_validate(
        {"axes": {"M": m}, "inputs": inputs, "uuid": uuid or f"m{m}"}
    )
    return Trace(
        definition=of.definition, workload=workload, solution=of.name, evaluation=evaluation
    )


def dataset(
    root: Path, solutions: list[Solution], traces: list[Trace], *more: Definition
) -> TraceSet:
    root.mkdir(parents=True)
    made = TraceSet(root)
    for one in more or (definition(),):
        made.add_definition(one)
    for each_solution in solutions:
        made.add_solution(each_solution)
    made.add_traces(traces)
    for path in [root, *root.rglob("*")]:
        path.chmod(path.stat().st_mode & ~0o022)
    return TraceSet.from_path(root)


def contest(root: Path, make: Any = returning) -> TraceSet:
    """At M=2 the fast one wins, at M=3 the slow one."""
    fast, slow = make("add_fast", FAST), make("add_slow", SLOW)
    results = [(fast, 2, 3.0), (slow, 2, 1.2), (fast, 3, 0.9), (slow, 3, 2.5)]
    return dataset(root, [fast, slow], [trace(*result) for result in results])
