"""The way from a function to an expression, and what is said where there is none."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from fictl.errors import UsageError
from fictl.scaffold.new.expression import Expression
from fictl.scaffold.new.expression.read import is_reduction, read
from fictl.scaffold.new.reference.parameters import ReferenceParameter
from fictl.scaffold.new.reference.source import FunctionSource
from fictl.scaffold.new.reference.translate.product import is_product
from fictl.scaffold.new.reference.translate.statements import File
from fictl.scaffold.new.reference.translate.value import (
    NoTranslation,
    ReferenceValue,
    outside_reductions,
)


@dataclass(frozen=True)
class Translation:
    """`expression` is None where there is none; `kind` is given where it is not an expression."""

    expression: str | None
    why_not: str = ""
    kind: str = ""

    def usual_axes(self, tensors: int) -> str:
        """Axes of its tensors, if only these are possible; else empty."""
        if self.expression is None:
            return ""
        if not Expression(self.expression).has_reductions:
            return "n"
        return "rows,hidden" if tensors == 1 else ""


def translate(function: FunctionSource, parameters: Sequence[ReferenceParameter]) -> Translation:
    if is_product(function, parameters):
        return Translation(None, "a matrix product is not an expression", "gemm")
    tensors = {p.name for p in parameters if p.role in ("tensor", "")}
    scope: dict[str, ReferenceValue | NoTranslation] = {
        p.name: ReferenceValue(ast.Name(p.name, ast.Load()))
        if p.role != "other"
        else NoTranslation(function.node, f"{p.name} is not a number")
        for p in parameters
    }
    try:
        value = File(function, tensors).run(function.node, function.body, scope)
        _check_end(function, value, tensors)
        text = ast.unparse(ast.fix_missing_locations(value.tree))
        read(text)
        return Translation(text)
    except NoTranslation as error:
        shown = ast.unparse(error.node).partition("\n")[0]
        return Translation(None, f"{function.at(error.node)}: {shown!r}: {error.why}")
    except UsageError as error:
        return Translation(None, f"{function.at(function.node)}: {error.message}")


def _check_end(function: FunctionSource, value: ReferenceValue, tensors: set[str]) -> None:
    """A kernel writes whole rows, or one value a row and no dimension for it."""
    reduces = any(is_reduction(node) for node in ast.walk(value.tree))
    if reduces and not value.dropped and not outside_reductions(value.tree) & tensors:
        raise NoTranslation(
            function.body[-1], "it keeps a dimension of size 1 to its end; drop keepdim=True there"
        )
