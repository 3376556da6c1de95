"""An expression in CuTe DSL: of vectors, as a thread has them, and plain numbers."""

from __future__ import annotations

import ast

from fictl.scaffold.new.expression.functions import ExpressionFunction
from fictl.scaffold.new.expression.read import function_name, names
from fictl.scaffold.new.expression.write import (
    SIGN,
    Language,
    no_reduction,
    python_power,
    write,
)

# Those of one argument that its library has under another name; `_name` is written into kernel.py.
_CALLS = {
    "abs": "cute.math.absf({0})",
    "where": "cute.where({0}, {1}, {2})",
    **{
        name: f"_{name}({{0}})"
        for name in ("sigmoid", "silu", "relu", "gelu", "gelu_tanh", "softplus")
    },
    **{name: f"_{name}({{0}}, {{1}})" for name in ("min", "max")},
}


def cute_of(tree: ast.expr) -> str:
    def call(function: ExpressionFunction, arguments: list[str], node: ast.Call) -> str:
        name = function_name(node)
        if name == "where" and not (names(node.args[1]) or names(node.args[2])):
            arguments[1] = f"cute.full_like({arguments[0]}, {arguments[1]}, Float32)"
        return _CALLS.get(name, f"cute.math.{name}({{0}})").format(*arguments)

    def power(base: str, exponent: str, node: ast.BinOp) -> tuple[str, int]:
        square = isinstance(node.right, ast.Constant) and node.right.value == 2
        if square and isinstance(node.left, ast.Name):
            return f"{base} * {base}", SIGN[ast.Mult][1]
        return python_power(base, exponent, node)

    return write(tree, Language(lambda value: repr(float(value)), call, power, no_reduction))
