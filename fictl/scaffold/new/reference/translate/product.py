"""A matrix product, which is not an expression, and has a kind of its own."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from fictl.scaffold.new.reference.parameters import ReferenceParameter
from fictl.scaffold.new.reference.source import FunctionSource
from fictl.scaffold.new.reference.translate.call_parts import TorchCall
from fictl.scaffold.new.reference.translate.functions import CASTS

_SWAPPED = (["0", "1"], ["1", "0"], ["-2", "-1"], ["-1", "-2"])


def is_product(function: FunctionSource, parameters: Sequence[ReferenceParameter]) -> bool:
    """`a @ b.T` of its two tensors, or F.linear(a, b); casts do not count."""
    names = [p.name for p in parameters if p.role in ("tensor", "")]
    return len(names) == 2 and _factors(_uncast(_returned(function.body))) == names


def _returned(body: Sequence[ast.stmt]) -> ast.expr | None:
    """All that it does; it may give it a name first."""
    match body:
        case [ast.Return(value=value)]:
            return value
        case [
            ast.Assign(targets=[ast.Name(id=name)], value=value),
            ast.Return(value=ast.Name(id=same)),
        ]:
            return value if name == same else None
    return None


def _factors(value: ast.expr | None) -> list[str]:
    match value:
        case ast.BinOp(left=a, op=ast.MatMult(), right=b):
            return _names(a, _transposed(b))
        case ast.Call() if (
            TorchCall(value).name in ("matmul", "mm") and len(TorchCall(value).arguments) == 2
        ):
            a, b = TorchCall(value).arguments
            return _names(a, _transposed(b))
        case ast.Call() if TorchCall(value).name == "linear" and not TorchCall(value).words:
            return _names(*TorchCall(value).arguments)
    return []


def _names(*factors: ast.expr | None) -> list[str]:
    bare = map(_uncast, factors)
    return [operand.id if isinstance(operand, ast.Name) else "" for operand in bare]


def _uncast(node: ast.expr | None) -> ast.expr | None:
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr not in CASTS:
            break
        node = node.func.value
    return node


def _transposed(node: ast.expr) -> ast.expr | None:
    """Return b of a transposed b: b.T, b.mT, b.t(), b.transpose(0, 1)."""
    node = _uncast(node) or node
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        dims = [ast.unparse(argument) for argument in node.args]
        if node.func.attr == "t" or (node.func.attr == "transpose" and dims in _SWAPPED):
            return node.func.value
    return None
