"""Python text of a user's, as a tree that can be walked: never one that ends the walker's stack."""

from __future__ import annotations

import ast

from fictl.errors import InvalidValue

# What walks a tree calls itself a few times a level, and the stack has a thousand.
DEEPEST_EXPRESSION = 100
DEEPEST_FILE = 250
_LONGEST_EXPRESSION = 10_000


class TooDeep(InvalidValue):
    """A text that is nested more deeply than anything that a person writes."""


def parse_expression(text: str) -> ast.expr:
    """The tree of one expression. SyntaxError and ValueError are all that it raises."""
    if len(text) > _LONGEST_EXPRESSION:
        raise TooDeep(f"it has {len(text)} characters; at most {_LONGEST_EXPRESSION} are read")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (RecursionError, MemoryError):
        raise TooDeep(_said(DEEPEST_EXPRESSION)) from None
    _require_depth(tree, DEEPEST_EXPRESSION)
    return tree


def parse_module(text: str | bytes) -> ast.Module:
    """The tree of a file. SyntaxError and ValueError are all that it raises."""
    try:
        tree = ast.parse(text)
    except (RecursionError, MemoryError):
        raise TooDeep(_said(DEEPEST_FILE)) from None
    _require_depth(tree, DEEPEST_FILE)
    return tree


def _require_depth(tree: ast.AST, deepest: int) -> None:
    """A level at a time, because a walk that calls itself is what cannot be done."""
    level: list[ast.AST] = [tree]
    for _ in range(deepest):
        level = _below(level)
        if not level:
            return
    raise TooDeep(_said(deepest))


# Nothing that matters is below these, and they are most of a tree.
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
    """Yield what ast.iter_child_nodes does for all nodes, in a third of its time: every op.py comes by here."""
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
