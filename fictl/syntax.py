"""Parsing of a user's Python text into a tree shallow enough for recursive visitors."""

from __future__ import annotations

import ast

from fictl.errors import InvalidValue

# A visitor uses a few stack frames per level, and Python allows a thousand.
DEEPEST_EXPRESSION = 100
DEEPEST_FILE = 250
_LONGEST_EXPRESSION = 10_000


class TooDeep(InvalidValue):
    """A text nested more deeply than any that a person writes."""


def parse_expression(text: str) -> ast.expr:
    """Parse one expression; raise only SyntaxError or ValueError."""
    if len(text) > _LONGEST_EXPRESSION:
        raise TooDeep(f"it has {len(text)} characters; at most {_LONGEST_EXPRESSION} are read")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (RecursionError, MemoryError):
        raise TooDeep(_said(DEEPEST_EXPRESSION)) from None
    _require_depth(tree, DEEPEST_EXPRESSION)
    return tree


def parse_module(text: str | bytes) -> ast.Module:
    """Parse a file; raise only SyntaxError or ValueError."""
    try:
        tree = ast.parse(text)
    except (RecursionError, MemoryError):
        raise TooDeep(_said(DEEPEST_FILE)) from None
    _require_depth(tree, DEEPEST_FILE)
    return tree


def _require_depth(tree: ast.AST, deepest: int) -> None:
    """Raise if a tree is too deep. It walks level by level, because recursion would overflow."""
    level: list[ast.AST] = [tree]
    for _ in range(deepest):
        level = _below(level)
        if not level:
            return
    raise TooDeep(_said(deepest))


# Nodes without relevant children; they are most of a tree.
_LEAVES = (
    ast.Name,
    ast.Constant,
    ast.expr_context,
    ast.operator,
    ast.unaryop,
    ast.cmpop,
    ast.boolop,
)


def _below(level: list[ast.AST]) -> list[ast.AST]:
    """List the child nodes of a level, three times faster than ast.iter_child_nodes.

    Speed matters because every op.py passes through here.
    """
    children: list[ast.AST] = []
    for node in level:
        for value in vars(node).values():
            if type(value) is list:
                children += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, _LEAVES):
                children.append(value)
    return children


def _said(deepest: int) -> str:
    return f"it is nested more than {deepest} deep"
