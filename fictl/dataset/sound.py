"""A sample that every sound place judges right: it tells a bad place from a bad solution."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fictl.dataset.run_plan import EvaluationJob
from fictl.errors import FictlError
from fictl.farm.station import Stopped

if TYPE_CHECKING:
    from fictl.dataset.evaluator import Evaluator
    from fictl.judge.config import EvalConfig

NAME = "fictl_sample"
_TENSOR = {"shape": ["n"], "dtype": "float32"}
_DEFINITION = {
    "name": NAME,
    "op_type": "sample",
    "axes": {"n": {"type": "var"}},
    "inputs": {"x": _TENSOR},
    "outputs": {"y": _TENSOR},
    "reference": "def run(x):\n    return x.clone()\n",
}
_SOLUTION = {
    "name": NAME,
    "definition": NAME,
    "author": "fictl",
    "spec": {
        "language": "python",
        "target_hardware": ["cpu", "cuda"],
        "entry_point": "main.py::run",
        "destination_passing_style": False,
    },
    "sources": [{"path": "main.py", "content": "def run(x):\n    return x.clone()\n"}],
}
_WORKLOAD = {"uuid": NAME, "axes": {"n": 4}, "inputs": {"x": {"type": "random"}}}


def why_unsound(evaluator: Evaluator, config: EvalConfig) -> str:
    """Judge the sample there; return '' if that works, else what went wrong."""
    from fictl.trace import Definition, Solution, Workload

    job = EvaluationJob(
        Definition.model_validate(_DEFINITION),
        Solution.model_validate(_SOLUTION),
        replace(config, warmup_runs=1, iterations=1, num_trials=1, profile_baseline=False),
        count=1,
    )
    try:
        evaluation = evaluator.evaluate(job, Workload.model_validate(_WORKLOAD))
    except Stopped:
        raise
    except FictlError as error:
        return error.message
    if evaluation.status.value == "PASSED":
        return ""
    log = evaluation.log.strip().splitlines()
    return f"{evaluation.status.value} {log[0] if log else ''}".strip()
