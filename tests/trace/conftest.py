"""The format of flashinfer-bench, written a second time and strictly; and a small dataset in it."""

from __future__ import annotations

import ast
import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Var(Part):
    type: Literal["var"]
    description: str | None = None


class Const(Part):
    type: Literal["const"]
    value: int = Field(ge=0)
    description: str | None = None


class Spec(Part):
    shape: list[str] | None  # null is a number; it must be said
    dtype: Literal[
        "float32",
        "float16",
        "bfloat16",
        "float8_e4m3fn",
        "float8_e5m2",
        "float4_e2m1",
        "int64",
        "int32",
        "int16",
        "int8",
        "bool",
        "uint8",  # ours, beside the published ones
    ]
    description: str | None = None


class Published(Part):
    name: str = Field(min_length=1)
    op_type: str = Field(min_length=1)
    description: str | None = None
    tags: list[str] = []
    axes: dict[str, Annotated[Var | Const, Field(discriminator="type")]]
    constraints: list[str] = []
    inputs: dict[str, Spec] = Field(min_length=1)
    outputs: dict[str, Spec] = Field(min_length=1)
    reference: str
    init: str | None = None  # flashinfer's extension of the format


@pytest.fixture
def published() -> Callable[[str], Published]:
    """Parse JSON as the format has it; the assertions are those of its own validator."""

    def validate(text: str) -> Published:
        found = Published.model_validate_json(text)
        for spec in (*found.inputs.values(), *found.outputs.values()):
            assert {*(spec.shape or ())} <= {*found.axes}
        for constraint in found.constraints:
            ast.parse(constraint, mode="eval")
        functions = [n for n in ast.parse(found.reference).body if isinstance(n, ast.FunctionDef)]
        (run,) = [node for node in functions if node.name == "run"]
        assert [argument.arg for argument in run.args.args] == [*found.inputs]
        return found

    return validate


DEFINITION = {
    "name": "add_n",
    "op_type": "add",
    "tags": [],
    "axes": {"n": {"type": "var"}, "h": {"type": "const", "value": 4}},
    "constraints": ["n % 2 == 0"],
    "inputs": {
        "x": {"shape": ["n", "h"], "dtype": "float32"},
        "by": {"shape": None, "dtype": "int32"},
    },
    "outputs": {"y": {"shape": ["n", "h"], "dtype": "float32"}},
    "reference": "def run(x, by):\n    return x + by\n",
}
SOLUTION = {
    "name": "quick",
    "definition": "add_n",
    "author": "me",
    "spec": {"language": "python", "target_hardware": ["cuda"], "entry_point": "main.py::run"},
    "sources": [{"path": "main.py", "content": "def run(x, by, y): y.copy_(x + by)\n"}],
}
WORKLOAD = {
    "axes": {"n": 8},
    "uuid": "w1",
    "inputs": {"x": {"type": "random"}, "by": {"type": "scalar", "value": 3}},
}
EVALUATION = {
    "status": "PASSED",
    "environment": {"hardware": "H"},
    "timestamp": "t",
    "correctness": {},
    "performance": {"latency_ms": 1.0, "reference_latency_ms": 3.0, "speedup_factor": 3.0},
}


@dataclass(frozen=True)
class Documents:
    """A good dataset as documents, to be changed; and the folder that they are written to."""

    root: Path
    definition: dict[str, Any]
    solution: dict[str, Any]
    workload: dict[str, Any]
    evaluation: dict[str, Any]

    def write(self, path: str, *documents: Any) -> Path:
        """As lines if the name says so. Text is written as it is."""
        full = self.root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        texts = [d if isinstance(d, str) else json.dumps(d) for d in documents]
        full.write_text("\n".join([*texts, ""]), encoding="utf-8")
        return full

    def line(self, **changes: Any) -> dict[str, Any]:
        return {
            "definition": "add_n",
            "workload": self.workload,
            "solution": None,
            "evaluation": None,
            **changes,
        }

    def trace(self, **changes: Any) -> dict[str, Any]:
        return self.line(**{"solution": "quick", "evaluation": self.evaluation, **changes})

    def write_all(self) -> Path:
        self.write("definitions/add/add_n.json", self.definition)
        self.write("solutions/me/add/add_n/quick.json", self.solution)
        self.write("workloads/add/add_n.jsonl", self.line())
        self.write("traces/me/add/add_n.jsonl", self.trace())
        return self.root


@pytest.fixture
def documents(tmp_path: Path) -> Documents:
    parts = (DEFINITION, SOLUTION, WORKLOAD, EVALUATION)
    return Documents(tmp_path / "data", *(copy.deepcopy(part) for part in parts))
