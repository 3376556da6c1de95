"""The published format of flashinfer-bench, written a second time and strictly: a check of ours."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Annotated, Literal

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
        "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1",
        "int64", "int32", "int16", "int8", "bool",
    ]  # fmt: skip
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
