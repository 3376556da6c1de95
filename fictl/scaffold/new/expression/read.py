"""Reading an expression: Python's syntax, of which arithmetic and known functions may be used."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from difflib import get_close_matches

from fictl.errors import UsageError, shown
from fictl.scaffold.new.expression.functions import FUNCTIONS, REDUCTIONS
from fictl.syntax import parse_expression

BINARY = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
COMPARE = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
ALLOWED = (
    f"numbers, names, + - * / **, comparisons in where(…), {', '.join(FUNCTIONS)}; over a row: "
    f"{', '.join(REDUCTIONS)} of one argument"
)


def read(text: str) -> ast.expr:
    try:
        tree = parse_expression(text)
    except (SyntaxError, ValueError) as error:
        reason = getattr(error, "message", error)
        raise UsageError(
            f"'{shown(text)}' is not an expression: {reason}", f"use {ALLOWED}"
        ) from None
    check(tree)
    return tree


def check(tree: ast.expr) -> None:
    for node in ast.walk(tree):
        if not _is_allowed(node):
            raise UsageError(
                f"the expression has {_shown(node)}, which it cannot have", f"use {ALLOWED}"
            )


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def function_name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def is_reduction(node: ast.AST) -> bool:
    """`max(x)` is over a row, `max(x, y)` of two values."""
    return isinstance(node, ast.Call) and len(node.args) == 1 and function_name(node) in REDUCTIONS


def names(tree: ast.expr) -> tuple[str, ...]:
    """Free ones, each once, as a reader meets them."""
    called = {id(call.func) for call in calls(tree)}
    name_nodes = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) not in called]
    ordered = sorted(name_nodes, key=lambda node: (node.lineno, node.col_offset))
    return tuple(dict.fromkeys(node.id for node in ordered))


def _is_allowed(node: ast.AST) -> bool:
    match node:
        case ast.Constant(value=value):
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case ast.BinOp(op=op):
            return isinstance(op, BINARY)
        case ast.UnaryOp(op=op):
            return isinstance(op, (ast.USub, ast.UAdd))
        case ast.Compare(ops=ops):
            return len(ops) == 1 and isinstance(ops[0], COMPARE)
        case ast.Call():
            return _is_known_call(node)
    return isinstance(node, (ast.Name, ast.operator, ast.unaryop, ast.cmpop, ast.expr_context))


def _is_known_call(call: ast.Call) -> bool:
    name = function_name(call)
    if name not in {*FUNCTIONS, *REDUCTIONS}:
        close = get_close_matches(name, [*FUNCTIONS, *REDUCTIONS], n=1)
        meant = f"; did you mean {close[0]!r}?" if close else ""
        raise UsageError(f"the expression calls {_shown(call.func)}{meant}", f"use {ALLOWED}")
    wanted = {FUNCTIONS[name].arguments} if name in FUNCTIONS else set()
    wanted |= {1} if name in REDUCTIONS else set()
    plain = not call.keywords and not any(
        isinstance(argument, ast.Starred) for argument in call.args
    )
    if not plain or len(call.args) not in wanted:
        raise UsageError(
            f"{ast.unparse(call)!r}: {name} takes {' or '.join(map(str, sorted(wanted)))} "
            f"argument{'s' * (wanted != {1})}",
            f"use {ALLOWED}",
        )
    return True


def _shown(node: ast.AST) -> str:
    try:
        return repr(ast.unparse(node))
    except Exception:  # Parts such as operators cannot always be shown alone.
        return type(node).__name__
