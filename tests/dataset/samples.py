"""Small documents of a dataset, and evaluators that evaluate without a judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fictl.dataset.run_jobs import run_dataset
from fictl.dataset.run_plan import EvaluationJob
from fictl.dataset.summary import Summary
from fictl.farm.place import Place
from fictl.trace import Definition, Evaluation, Solution, Trace, TraceSet, Workload

Judge = Callable[[EvaluationJob, Workload, Place], Evaluation]


def evaluation(status: str = "PASSED", speedup: float = 2.0, log: str = "") -> Evaluation:
    said: dict[str, Any] = {
        "status": status,
        "environment": {"hardware": "NVIDIA_H200"},
        "timestamp": "2026-11-22T12:00:00+00:00",
        "log": log,
    }
    if status in ("PASSED", "INCORRECT_NUMERICAL"):
        said["correctness"] = {"max_relative_error": 0.0, "max_absolute_error": 0.0}
    if status == "PASSED":
        said["performance"] = {
            "latency_ms": 1 / speedup,
            "reference_latency_ms": 1.0,
            "speedup_factor": speedup,
        }
    return Evaluation.model_validate(said)


def definition(name: str, op_type: str = "norm") -> Definition:
    spec = {"shape": ["n"], "dtype": "float32"}
    return Definition.model_validate(
        {
            "name": name,
            "op_type": op_type,
            "axes": {"n": {"type": "var"}},
            "inputs": {"x": spec},
            "outputs": {"y": spec},
            "reference": "def run(x):\n    return x",
        }
    )


def solution(name: str, of: str, author: str = "me", code: str = "") -> Solution:
    text = code or f"def run(x):  # {name}\n    return x\n"
    return Solution.model_validate(
        {
            "name": name,
            "definition": of,
            "author": author,
            "spec": {
                "language": "python",
                "target_hardware": ["cpu"],
                "entry_point": "main.py::run",
                "destination_passing_style": False,
            },
            "sources": [{"path": "main.py", "content": text}],
        }
    )


def workload(uuid: str, n: int = 4) -> Workload:
    return Workload.model_validate(
        {"axes": {"n": n}, "inputs": {"x": {"type": "random"}}, "uuid": uuid}
    )


class FakeEvaluator:
    """Asks a function; `ended` says how often it was closed."""

    def __init__(self, slot: Place, judge: Judge) -> None:
        self.slot, self.judge = slot, judge
        self.stopped = False
        self.closed = 0

    def prepare(self, device: str, waits: object) -> None:
        pass

    def build(self, job: EvaluationJob) -> Evaluation | None:
        return None

    def evaluate(self, job: EvaluationJob, workload: Workload, waits: bool = True) -> Evaluation:
        return self.judge(job, workload, self.slot)

    def stop(self) -> None:
        self.stopped = True

    def close(self) -> None:
        self.closed += 1


def passes(job: EvaluationJob, workload: Workload, slot: Place) -> Evaluation:
    return evaluation()


def run(
    dataset: TraceSet, judge: Judge = passes, places: Sequence[str] = ("cpu",), **options: Any
) -> Summary:
    """Of the dataset's folder as it is now."""
    from fictl.dataset.run_options import RunOptions

    observer = options.pop("observer", None)
    slots = options.pop("slots", None) or tuple(Place(name) for name in places)
    asked = RunOptions(**{"device": "cpu", **options})
    return run_dataset(
        dataset.root, asked, observer, lambda root, slot: FakeEvaluator(slot, judge), slots
    )


def saved(dataset: TraceSet) -> list[Trace]:
    return [*TraceSet.from_path(dataset.root).traces()]
