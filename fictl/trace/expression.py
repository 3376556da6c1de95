"""Arithmetic and conditions over axes, as traces write them, evaluated without `eval`."""

from __future__ import annotations

import ast
import operator
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from fictl.errors import UsageError, shown
from fictl.syntax import parse_expression

Number: TypeAlias = "int | float | bool"

_LARGEST_POWER = 64


def _power(base: Number, power: Number) -> Number:
    """Power with limits, so that no expression exhausts time or memory."""
    if abs(power) > _LARGEST_POWER or abs(base) > sys.maxsize:
        raise ArithmeticError(f"{base} ** {power} is too large")
    raised: Number = base**power
    return raised


_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}
_UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
}
_COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda value, among: value in among,
    ast.NotIn: lambda value, among: value not in among,  # codespell:ignore notin
}
_CALLS: Mapping[str, Callable[..., Any]] = {"min": min, "max": max}
_ALLOWED = "numbers, axes, scalar inputs, + - * / // % **, comparisons, and, or, not, in, min, max"


class Malformed(UsageError):
    """An invalid expression, or one without a value."""


def names_in(text: str) -> set[str]:
    """Names of the axes and scalars in an expression."""
    tree = _parse(text)
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) not in called}


def evaluate(text: str, values: Mapping[str, Number]) -> Any:
    """Evaluate an expression; `values` must have every name in it."""
    try:
        return _value(_parse(text), values)
    except (ArithmeticError, TypeError, KeyError) as error:
        raise Malformed(f"{text!r} has no value: {type(error).__name__}: {error}") from None


@lru_cache(maxsize=256)
def _parse(text: str) -> ast.expr:
    try:
        tree = parse_expression(text)
    except (SyntaxError, ValueError) as error:
        problem = getattr(error, "message", error)
        raise Malformed(
            f"'{shown(text)}' is not an expression: {problem}", f"use {_ALLOWED}"
        ) from None
    for node in ast.walk(tree):
        if not _is_allowed(node):
            raise Malformed(f"{text!r} has {ast.unparse(node)!r}", f"use {_ALLOWED}")
    return tree


def _is_allowed(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in _CALLS and not node.keywords
    if isinstance(node, ast.BinOp):
        return type(node.op) in _BINARY
    if isinstance(node, ast.UnaryOp):
        return type(node.op) in _UNARY
    if isinstance(node, ast.Compare):
        return all(type(op) in _COMPARE for op in node.ops)
    parts = (ast.BoolOp, ast.Name, ast.Tuple, ast.boolop, ast.operator, ast.unaryop, ast.cmpop)
    return isinstance(node, (*parts, ast.expr_context))


def _value(node: ast.expr, values: Mapping[str, Number]) -> Any:
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return values[node.id]
        case ast.Tuple():
            return tuple(_value(part, values) for part in node.elts)
        case ast.UnaryOp():
            return _UNARY[type(node.op)](_value(node.operand, values))
        case ast.BinOp():
            left, right = _value(node.left, values), _value(node.right, values)
            return _BINARY[type(node.op)](left, right)
        case ast.BoolOp(op=ast.And()):
            return all(_value(part, values) for part in node.values)
        case ast.BoolOp():
            return any(_value(part, values) for part in node.values)
        case ast.Call(func=ast.Name(id=name)):
            return _CALLS[name](*(_value(part, values) for part in node.args))
        case ast.Compare():
            terms = [_value(part, values) for part in (node.left, *node.comparators)]
            pairs = zip(node.ops, terms[:-1], terms[1:], strict=True)
            return all(_COMPARE[type(op)](left, right) for op, left, right in pairs)
    raise AssertionError(ast.dump(node))  # _is_allowed knows the same nodes
