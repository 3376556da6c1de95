"""Sizes of a launch as the command line says them: over the op's axes, written as C++."""

from __future__ import annotations

import ast
import math
import shlex
from collections.abc import Callable

from fictl.errors import UsageError, shown
from fictl.scaffold.new.brought.sizes import Sizes
from fictl.syntax import parse_expression

_MOST_THREADS = 1024
_MOST_BLOCKS = 2**31 - 1
_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "/"}
_GRID = "as in --grid rows, --grid rows,heads or --grid 'ceil_div(rows * 32, 256)'"
_BLOCK = "as in --block 256 or --block 32,8"


def grid_sizes(text: str, sizes: Sizes) -> tuple[str, ...]:
    """C++ of one to three numbers of blocks; `numel` is the number of elements of the output."""
    names = {axis.name: sizes.cpp(axis.name) for axis in sizes.signature.axes}
    names |= {"numel": sizes.count}
    known = f"{', '.join(names)}, whole numbers, + - * // and ceil_div(a, b) can be in it; {_GRID}"

    def named(name: str) -> str:
        if name not in names:
            raise UsageError(f"--grid names {name!r}, which is not an axis", known)
        plain = names[name].replace(".", "").replace("(", "").replace(")", "").isalnum()
        return names[name] if plain else f"({names[name]})"

    return tuple(_cpp(node, named, known) for node in _dimensions("--grid", text, _GRID))


def block_sizes(text: str) -> tuple[str, ...]:
    """One to three numbers of threads."""
    numbers = [_number(node) for node in _dimensions("--block", text, _BLOCK)]
    if min(numbers) < 1 or math.prod(numbers) > _MOST_THREADS:
        raise UsageError(
            f"--block {shown(text)} is not a block size: whole numbers, and "
            f"{_MOST_THREADS} threads at most",
            _BLOCK,
        )
    return tuple(map(str, numbers))


def to_paste(unit: str, sizes: Sizes) -> str:
    """The options for a launch of another unit, over the op's own axes."""
    rows = " * ".join(sizes.row_axes) or "numel"
    grid = {
        "element": "ceil_div(numel, 256)",
        "warp": f"ceil_div({rows} * 32, 256)",
        "row": rows,
    }[unit]
    return f"--grid {shlex.quote(grid)} --block 256"


def _dimensions(option: str, text: str, form: str) -> list[ast.expr]:
    try:
        tree = parse_expression(text)
    except (SyntaxError, ValueError):
        raise UsageError(f"{option} {shown(text)!r} is not a size", form) from None
    nodes = tree.elts if isinstance(tree, ast.Tuple) else [tree]
    if not 1 <= len(nodes) <= 3:
        raise UsageError(f"{option} {shown(text)!r} has {len(nodes)} dimensions, not 1 to 3", form)
    return nodes


def _number(node: ast.expr) -> int:
    """0 where it is none."""
    value = node.value if isinstance(node, ast.Constant) else 0
    return value if type(value) is int else 0


def _cpp(node: ast.expr, named: Callable[[str], str], known: str, inside: bool = False) -> str:
    match node:
        case ast.Name(id=name):
            return named(name)
        case ast.Constant() if 0 < _number(node) <= _MOST_BLOCKS:
            return str(_number(node))
        case ast.BinOp(left=a, op=op, right=b) if type(op) in _OPERATORS:
            left, right = _cpp(a, named, known, True), _cpp(b, named, known, True)
            text = f"{left} {_OPERATORS[type(op)]} {right}"
            return f"({text})" if inside else text
        case ast.Call(func=ast.Name(id="ceil_div"), args=[a, b], keywords=[]):
            return f"device::ceil_div({_cpp(a, named, known)}, {_cpp(b, named, known)})"
    raise UsageError(f"--grid has {shown(ast.unparse(node))!r}, which is not a size", known)
