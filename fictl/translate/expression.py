"""Translates Python expressions of numbers to C++: same meaning, few parentheses."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from types import FunctionType, ModuleType
from typing import Any

from fictl.translate import functions
from fictl.translate.functions import joined
from fictl.translate.refused import Refused
from fictl.translate.spelling import number
from fictl.translate.value import (
    AND,
    ATOM,
    BIT_AND,
    BIT_OR,
    BIT_XOR,
    EQUAL,
    OR,
    ORDER,
    PRODUCT,
    SUM,
    UNARY,
    Type,
    Value,
    combined,
)

_ARITHMETIC: Mapping[type[ast.AST], tuple[str, int]] = {
    ast.Add: ("+", SUM),
    ast.Sub: ("-", SUM),
    ast.Mult: ("*", PRODUCT),
}
_COMPARED: Mapping[type[ast.AST], tuple[str, int]] = {
    ast.Lt: ("<", ORDER),
    ast.LtE: ("<=", ORDER),
    ast.Gt: (">", ORDER),
    ast.GtE: (">=", ORDER),
    ast.Eq: ("==", EQUAL),
    ast.NotEq: ("!=", EQUAL),
}
_BITS: Mapping[type[ast.AST], tuple[str, int, str, int]] = {
    ast.BitAnd: ("&", BIT_AND, "&&", AND),
    ast.BitOr: ("|", BIT_OR, "||", OR),
    ast.BitXor: ("^", BIT_XOR, "!=", EQUAL),
}
_DIVISION = ("floor_divide",)
_MODULES = ("math", "torch", "numpy", "cmath")
_MOST_FACTORS = 8


class ExpressionWriter:
    """Translates expressions. values: of names in the function. visible: finds outer names."""

    def __init__(self, values: Mapping[str, Value], visible: Callable[[str], Any]) -> None:
        self._values = values
        self._visible = visible

    def condition(self, node: ast.expr) -> Value:
        """Convert a value to a condition, as `if` does."""
        match node:
            case ast.BoolOp(op=op, values=parts):
                return _both_or_one(op, [self.condition(part) for part in parts])
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inside = self.condition(operand)
                return combined(f"!{inside.within(UNARY)}", Type.BOOL, UNARY, [inside])
        return self.value(node).as_condition

    def value(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant():
                return _literal(node, node.value)
            case ast.Name(id=name):
                return self._named(node, name)
            case ast.Attribute():
                return self._constant(node, ast.unparse(node))
            case ast.UnaryOp(op=op, operand=operand):
                return self._unary(node, op, operand)
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(node, self.value(left), op, self.value(right))
            case ast.Compare():
                return self._compared(node)
            case ast.BoolOp(values=parts):
                self._check_conditions(parts)
                return self.condition(node)
            case ast.IfExp(test=test, body=one, orelse=other):
                return functions.choice([self.condition(test), self.value(one), self.value(other)])
            case ast.Call():
                return self._call(node)
        raise Refused(node, f"{_shown(node)} has no translation")

    def _named(self, node: ast.expr, name: str) -> Value:
        return self._values[name] if name in self._values else self._constant(node, name)

    def _constant(self, node: ast.expr, name: str) -> Value:
        """Write a number from an outer scope as a literal, with its current value."""
        value = self._visible(name)
        if type(value) in (bool, int, float):
            return _literal(node, value)
        if value is None:
            close = get_close_matches(name, self._values, n=1)
            meant = f"; did you mean {close[0]!r}?" if close else ""
            raise Refused(node, f"{name!r} is not known here{meant}")
        kind = type(value).__name__
        raise Refused(
            node,
            f"{name!r} is a {kind}, and only numbers can be seen from outside",
            "pass it as an argument, or name a number",
        )

    def _unary(self, node: ast.expr, op: ast.unaryop, operand: ast.expr) -> Value:
        if isinstance(op, ast.Not):
            return self.condition(node)
        if isinstance(op, ast.USub) and isinstance(operand, ast.Constant):
            inside = _literal(operand, operand.value)
            return combined(f"-{inside.text}", max(inside.type, Type.INT), UNARY, [inside])
        inside = self.value(operand)
        if isinstance(op, ast.UAdd):
            return inside
        if isinstance(op, ast.Invert):
            if inside.type is not Type.INT:
                raise Refused(node, f"~ of a {inside.type.name.lower()}", "write `not` for it")
            return combined(f"~{inside.within(UNARY)}", Type.INT, UNARY, [inside])
        # + 1, because -- would be another operator.
        text = f"-{inside.within(UNARY + 1)}"
        return combined(text, max(inside.type, Type.INT), UNARY, [inside])

    def _binary(self, node: ast.BinOp, a: Value, op: ast.operator, b: Value) -> Value:
        kind = max(joined((a, b)), Type.INT)
        if type(op) in _ARITHMETIC:
            sign, strength = _ARITHMETIC[type(op)]
            text = f"{a.within(strength)} {sign} {b.within(strength + 1)}"
            return combined(text, kind, strength, [a, b])
        if isinstance(op, ast.Div):
            return _quotient(a, b)
        if isinstance(op, (ast.FloorDiv, ast.Mod)):
            if kind is Type.INT and b.divisor:
                name = "quotient" if isinstance(op, ast.FloorDiv) else "remainder"
                return combined(f"{b.divisor}.{name}({a.text})", kind, ATOM, [a, b], _DIVISION)
            if kind is Type.FLOAT:
                a, b = a.as_float, b.as_float
            name = "floor_divide" if isinstance(op, ast.FloorDiv) else "floor_modulo"
            text = f"fictl::device::{name}({a.text}, {b.text})"
            return combined(text, kind, ATOM, [a, b], _DIVISION)
        if isinstance(op, ast.Pow):
            return _power(node, a, b)
        if type(op) in _BITS:
            return _bits(node, a, op, b)
        raise Refused(node, f"the operator of {_shown(node)} has no translation")

    def _compared(self, node: ast.Compare) -> Value:
        sides = [self.value(operand) for operand in (node.left, *node.comparators)]
        parts = []
        for op, a, b in zip(node.ops, sides, sides[1:], strict=False):
            if type(op) not in _COMPARED:
                raise Refused(node, f"{_shown(node)} is not a comparison of numbers")
            sign, strength = _COMPARED[type(op)]
            text = f"{a.within(SUM)} {sign} {b.within(SUM)}"
            parts.append(combined(text, Type.BOOL, strength, [a, b]))
        return _both_or_one(ast.And(), parts)

    def _check_conditions(self, parts: list[ast.expr]) -> None:
        """Refuse numbers in `and` and `or`, where Python returns an operand, not a bool."""
        for part in parts:
            if self.value(part).type is not Type.BOOL:
                raise Refused(
                    part,
                    f"{_shown(part)} is a number, and `and` and `or` are of conditions here",
                    "compare it with something, as in x != 0",
                )

    def _call(self, node: ast.Call) -> Value:
        match node:  # float('inf') and the like
            case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str() as word)]):
                return _literal(node, _float(word, node))
        name = self._function_name(node.func)
        function = functions.function(name)
        if function is None:
            close = get_close_matches(name, functions.NAMES, n=1)
            meant = f"; did you mean {close[0]!r}?" if close else ""
            raise Refused(node, f"{_shown(node.func)}(…) has no translation{meant}")
        write, counts = function
        starred = any(isinstance(argument, ast.Starred) for argument in node.args)
        if node.keywords or starred or len(node.args) not in counts:
            wanted = counts[0] if len(counts) == 1 else f"{counts[0]} or more"
            raise Refused(node, f"{name} takes {wanted} argument{'s' * (wanted != 1)} by place")
        return write([self.value(argument) for argument in node.args])

    def _function_name(self, called: ast.expr) -> str:
        """Return a function's name: a builtin, fictl's (where), or of math or torch."""
        if isinstance(called, ast.Name):
            own = self._visible(called.id)
            if isinstance(own, FunctionType) and own.__module__.partition(".")[0] not in _MODULES:
                raise Refused(
                    called,
                    f"{called.id!r} is a function of its own, and is not looked into",
                    "write out what it computes",
                )
            return called.id
        if isinstance(called, ast.Attribute):
            module = self._visible(ast.unparse(called.value))
            if isinstance(module, ModuleType) and module.__name__ in _MODULES:
                return called.attr
        raise Refused(called, f"a call of {_shown(called)} has no translation")


def _float(word: str, node: ast.expr) -> float:
    try:
        return float(word)
    except ValueError as error:
        raise Refused(node, str(error)) from None


def _literal(node: ast.expr, value: object) -> Value:
    if not isinstance(value, (bool, int, float)):
        raise Refused(node, f"{value!r} is not a number")
    text = number(abs(value) if type(value) is not bool else value)
    if text is None:
        raise Refused(
            node, f"{value} does not fit 32 bits", f"as a fraction it does: {float(value)!r}"
        )
    kind = {bool: Type.BOOL, int: Type.INT, float: Type.FLOAT}[type(value)]
    sign, strength = ("-", UNARY) if value < 0 else ("", ATOM)
    return Value(f"{sign}{text}", kind, strength, uniform=True)


def _both_or_one(op: ast.boolop, parts: list[Value]) -> Value:
    if len(parts) == 1:
        return parts[0]
    strength = AND if isinstance(op, ast.And) else OR
    # Parenthesise `and` within `or`: compilers warn otherwise.
    least = strength + (2 if strength == OR else 1)
    sign = " && " if strength == AND else " || "
    text = sign.join(part.within(least) for part in parts)
    return combined(text, Type.BOOL, strength, parts)


def _bits(node: ast.expr, a: Value, op: ast.operator, b: Value) -> Value:
    """Write `&`, `|`, `^` of integers, or of conditions, as for masks in torch."""
    sign, strength, logical, logical_strength = _BITS[type(op)]
    kind = joined((a, b))
    if kind is Type.FLOAT:
        raise Refused(node, f"{_shown(node)} is of fractions", "whole numbers have bits")
    least = UNARY
    if kind is Type.BOOL:
        sign, strength = logical, logical_strength
        least = SUM if strength == EQUAL else EQUAL
    # More parentheses than C++ needs: compilers warn otherwise.
    text = f"{a.within(least)} {sign} {b.within(least)}"
    return combined(text, kind, strength, [a, b])


def _quotient(a: Value, b: Value) -> Value:
    if a.type is Type.FLOAT and a.inexact and not a.uniform and b.uniform:
        # Multiply by the inverse, computed once: a division is ten times as slow.
        known = b.divisor if b.type is Type.FLOAT else ""
        text = f"{a.within(PRODUCT)} * {known or f'(1.0f / {b.within(PRODUCT + 1)})'}"
    else:
        a = a.as_float if b.type is not Type.FLOAT else a
        text = f"{a.within(PRODUCT)} / {b.within(PRODUCT + 1)}"
    return combined(text, Type.FLOAT, PRODUCT, [a, b])


def _power(node: ast.BinOp, a: Value, b: Value) -> Value:
    exponent = node.right.value if isinstance(node.right, ast.Constant) else None
    if type(exponent) is int and 0 < exponent <= _MOST_FACTORS:
        text = " * ".join([a.within(PRODUCT + 1)] * exponent)
        return combined(text, max(a.type, Type.INT), PRODUCT if exponent > 1 else ATOM, [a])
    if exponent == 0.5:
        return combined(f"sqrtf({a.as_float.text})", Type.FLOAT, ATOM, [a])
    if isinstance(node.left, ast.Constant) and node.left.value == 2:
        return combined(f"exp2f({b.as_float.text})", Type.FLOAT, ATOM, [b])
    return combined(f"powf({a.as_float.text}, {b.as_float.text})", Type.FLOAT, ATOM, [a, b])


def _shown(node: ast.AST) -> str:
    return repr(ast.unparse(node).partition("\n")[0])
