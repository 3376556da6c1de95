"""Axes of a definition: constant, variable, or computed from others."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, field_validator

from fictl.errors import UsageError
from fictl.trace.documents.part import Part, Size
from fictl.trace.expression import names_in


class AxisVar(Part):
    """An axis whose size the workload gives."""

    type: Literal["var"] = "var"
    description: str | None = None


class AxisConst(Part):
    """An axis whose size the definition gives."""

    type: Literal["const"] = "const"
    value: Size
    description: str | None = None


class AxisExpr(Part):
    """An axis computed from others, as in SOL-ExecBench; flashinfer-bench has none."""

    type: Literal["expr"] = "expr"
    expression: str
    description: str | None = None

    @field_validator("expression")
    @classmethod
    def _is_arithmetic(cls, value: str) -> str:
        try:
            names_in(value)
        except UsageError as error:
            raise ValueError(f"{error.message}; {error.hint}") from None
        return value


Axis: TypeAlias = Annotated[AxisVar | AxisConst | AxisExpr, Field(discriminator="type")]
