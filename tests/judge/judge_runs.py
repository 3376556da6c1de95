"""A definition and solutions that the tests of the judge share."""

from __future__ import annotations

from typing import Any

from fictl.judge import EvalConfig
from fictl.trace import Definition, Evaluation, Solution, Workload

REFERENCE = "# SECRET_OF_THE_REFERENCE\nimport torch\ndef run(x, s):\n    return x * s\n"
CONFIG = EvalConfig(
    device="cpu",
    iterations=3,
    num_trials=1,
    warmup_runs=2,
    timeout_seconds=30.0,
    compile_timeout_seconds=30.0,
)
WORKLOAD = Workload.model_validate(
    {
        "axes": {"m": 16},
        "uuid": "w",
        "inputs": {"x": {"type": "random"}, "s": {"type": "scalar", "value": 2.5}},
    }
)


def definition(reference: str = REFERENCE, **more: Any) -> Definition:
    tensor = {"shape": ["m", "n"], "dtype": "float32"}
    return Definition.model_validate(
        {
            "name": "scale",
            "op_type": "elementwise",
            "axes": {"m": {"type": "var"}, "n": {"type": "const", "value": 64}},
            "inputs": {"x": tensor, "s": {"shape": None, "dtype": "float32"}},
            "outputs": {"y": tensor},
            "reference": reference,
            **more,
        }
    )


def solution(source: str, *, dps: bool = False, **more: Any) -> Solution:
    return Solution.model_validate(
        {
            "name": "tried",
            "definition": "scale",
            "author": "someone",
            "spec": {
                "language": "python",
                "target_hardware": ["cpu"],
                "entry_point": "main.py::run",
                "destination_passing_style": dps,
                **more,
            },
            "sources": [{"path": "main.py", "content": source}],
        }
    )


def said(evaluation: Evaluation) -> str:
    """Its status and its log, for assertions to show."""
    return f"{evaluation.status.value}: {evaluation.log[:3000]}"
