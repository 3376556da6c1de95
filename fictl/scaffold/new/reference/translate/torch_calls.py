"""Calls of torch's functions and methods as values."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence

from fictl.scaffold.new.reference.translate.call_parts import TorchCall
from fictl.scaffold.new.reference.translate.functions import CASTS, FORMULAS, GELU, REDUCTIONS, ROWS
from fictl.scaffold.new.reference.translate.interfaces import ValueReader
from fictl.scaffold.new.reference.translate.value import (
    NoTranslation,
    ReferenceValue,
    filled,
    outside_reductions,
)

_WHOLE = re.compile(r"torch\.(?:u?int\d*|long|short|bool)")


def value(reader: ValueReader, call: TorchCall) -> ReferenceValue:
    if not call.arguments:
        raise NoTranslation(call.node, "it has no translation")
    if call.name in CASTS:
        return _cast(reader, call)
    read = _SPECIAL.get(call.name)
    if read is not None:
        return read(reader, call)
    if call.name in REDUCTIONS:
        return _reduced(reader, call, REDUCTIONS[call.name])
    if call.name in ROWS:
        return _row(reader, call, ROWS[call.name])
    return _plain(reader, call)


def _cast(reader: ValueReader, call: TorchCall) -> ReferenceValue:
    """Read a cast to a floating type: a kernel computes in fp32 whatever it reads."""
    dtypes = [*call.arguments[1:], *call.words.values()]
    if any(_WHOLE.fullmatch(ast.unparse(dtype)) for dtype in dtypes):
        raise NoTranslation(call.node, "a cast to whole numbers changes values")
    return reader.value(call.arguments[0])


def extreme(reader: ValueReader, node: ast.Call) -> ReferenceValue:
    """`x.max(dim=-1)`, of whose two results only the values are wanted."""
    call = TorchCall(node)
    if call.name not in ("max", "min"):
        raise NoTranslation(node, f"expressions have no {call.name or 'such call'}")
    if call.dim is None:
        raise NoTranslation(node, "a kernel of an expression takes every element")
    return _reduced(reader, call, REDUCTIONS[f"a{call.name}"])


def _plain(reader: ValueReader, call: TorchCall) -> ReferenceValue:
    if call.name == "where" and call.owner is not None:
        raise NoTranslation(call.node, "write it as torch.where(condition, a, b)")
    formula, count = FORMULAS.get(call.name, ""), len(call.arguments)
    if not formula:
        raise NoTranslation(call.node, f"expressions have no {call.name or 'such call'}")
    wanted = next(n for n in range(3, 0, -1) if f"{{{n - 1}}}" in formula)
    if call.words or count != wanted:
        text = f"{', '.join(call.words)}=…" if call.words else f"{count} arguments"
        raise NoTranslation(call.node, f"{call.name} with {text} has no translation")
    return _fill(reader, call, formula, call.arguments)


def _fill(
    reader: ValueReader, call: TorchCall, formula: str, arguments: Sequence[ast.expr]
) -> ReferenceValue:
    values = [reader.value(argument) for argument in arguments]
    return reader.joined(call.node, filled(formula, [v.tree for v in values]), *values)


def _whole(reader: ValueReader, call: TorchCall) -> ReferenceValue:
    """Value that it is called on, with the dimension that it goes over."""
    inside = reader.value(call.arguments[0])
    if inside.dropped:
        raise NoTranslation(call.node, "only the last dimension of a tensor is reduced")
    return inside


def _reduced(reader: ValueReader, call: TorchCall, formula: str) -> ReferenceValue:
    if call.dim != -1:
        raise NoTranslation(call.node, "a kernel reduces over the last dimension: say dim=-1")
    kept = call.literal("keepdim", 2) is True
    return ReferenceValue(filled(formula, [_whole(reader, call).tree]), dropped=not kept)


def _row(reader: ValueReader, call: TorchCall, formula: str) -> ReferenceValue:
    if call.dim != -1:
        raise NoTranslation(call.node, "a kernel goes over the last dimension: say dim=-1")
    return ReferenceValue(filled(formula, [_whole(reader, call).tree]))


def _spread(reader: ValueReader, call: TorchCall) -> ReferenceValue:
    if call.literal("correction") != 0 and call.literal("unbiased") is not False:
        raise NoTranslation(call.node, "it divides by one less than a row has; say correction=0")
    formula = "mean(({0} - mean({0})) ** 2)"
    return _reduced(reader, call, formula if call.name == "var" else f"sqrt({formula})")


def _rms_norm(reader: ValueReader, call: TorchCall) -> ReferenceValue:
    arguments = call.said("input", "shape", "weight", "eps")
    if "eps" not in arguments:
        raise NoTranslation(call.node, "its eps depends on the dtype; say eps=…")
    eps = reader.value(arguments["eps"]).tree
    x = filled("{0} * rsqrt(mean({0} * {0}) + {eps})", [_whole(reader, call).tree], eps=eps)
    return _scaled(reader, x, arguments)


def _layer_norm(reader: ValueReader, call: TorchCall) -> ReferenceValue:
    arguments = call.said("input", "shape", "weight", "bias", "eps")
    eps = reader.value(arguments["eps"]).tree if "eps" in arguments else ast.Constant(1e-5)
    formula = "({0} - mean({0})) * rsqrt(mean(({0} - mean({0})) ** 2) + {eps})"
    return _scaled(reader, filled(formula, [_whole(reader, call).tree], eps=eps), arguments)


def _scaled(reader: ValueReader, x: ast.expr, arguments: dict[str, ast.expr]) -> ReferenceValue:
    for key, operator in (("weight", ast.Mult()), ("bias", ast.Add())):
        if key in arguments:
            x = ast.BinOp(x, operator, reader.value(arguments[key]).tree)
    return ReferenceValue(x)


def _gelu(reader: ValueReader, call: TorchCall) -> ReferenceValue:
    approximate = call.literal("approximate") or "none"
    if approximate not in GELU:
        raise NoTranslation(call.node, f"gelu has no approximate={approximate!r}")
    return _fill(reader, call, GELU[str(approximate)], call.arguments[:1])


def _clamp(reader: ValueReader, call: TorchCall) -> ReferenceValue:
    _, _, side = call.name.partition("_")
    arguments = call.said("input", side) if side else call.said("input", "min", "max")
    clamped = reader.value(call.arguments[0])
    for key, formula in (("min", "max({0}, {1})"), ("max", "min({0}, {1})")):
        if key in arguments:
            bound = reader.value(arguments[key])
            clamped = reader.joined(
                call.node, filled(formula, [clamped.tree, bound.tree]), clamped, bound
            )
    return clamped


def _leaky_relu(reader: ValueReader, call: TorchCall) -> ReferenceValue:
    slope = call.said("input", "negative_slope").get("negative_slope", ast.Constant(0.01))
    return _fill(reader, call, "where({0} > 0, {0}, {1} * {0})", [call.arguments[0], slope])


def _unsqueeze(reader: ValueReader, call: TorchCall) -> ReferenceValue:
    inside = reader.value(call.arguments[0])
    if call.dim != -1 or not inside.dropped:
        raise NoTranslation(call.node, "a kernel of an expression keeps the shape of a row")
    return ReferenceValue(inside.tree)


def _squeeze(reader: ValueReader, call: TorchCall) -> ReferenceValue:
    inside = reader.value(call.arguments[0])
    left = outside_reductions(inside.tree) & reader.tensors
    if call.dim != -1 or inside.dropped or left:
        raise NoTranslation(call.node, "only the dimension that a reduction kept can go")
    return ReferenceValue(inside.tree, dropped=True)


def _square(reader: ValueReader, call: TorchCall) -> ReferenceValue:
    """Write a square as authors of expressions do."""
    inside = reader.value(call.arguments[0])
    product = "{0} * {0}" if isinstance(inside.tree, ast.Name) else "{0} ** 2"
    return ReferenceValue(filled(product, [inside.tree]), inside.dropped)


def _pow(reader: ValueReader, call: TorchCall) -> ReferenceValue:
    if call.literal("exponent", 1) == 2:
        return _square(reader, call)
    return _fill(reader, call, "{0} ** {1}", list(call.said("input", "exponent").values()))


def _norm(reader: ValueReader, call: TorchCall) -> ReferenceValue:
    if len(call.arguments) > 1 or {*call.words} - {"dim", "keepdim"}:
        raise NoTranslation(call.node, "of norms the plain one of dim=-1 has a translation")
    return _reduced(reader, call, "sqrt(sum({0} * {0}))")


_SPECIAL: dict[str, Callable[[ValueReader, TorchCall], ReferenceValue]] = {
    "clamp": _clamp,
    "clamp_max": _clamp,
    "clamp_min": _clamp,
    "clip": _clamp,
    "gelu": _gelu,
    "layer_norm": _layer_norm,
    "leaky_relu": _leaky_relu,
    "norm": _norm,
    "pow": _pow,
    "rms_norm": _rms_norm,
    "square": _square,
    "squeeze": _squeeze,
    "std": _spread,
    "unsqueeze": _unsqueeze,
    "var": _spread,
    "vector_norm": _norm,
}
