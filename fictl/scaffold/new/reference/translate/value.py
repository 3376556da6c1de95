"""Value of a part of a reference: a tree of an expression, or the reason why there is none."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fictl.scaffold.new.expression.read import is_reduction


class NoTranslation(Exception):
    """A part of a reference that an expression cannot say."""

    def __init__(self, node: ast.AST, why: str) -> None:
        super().__init__(why)
        self.node, self.why = node, why


@dataclass(frozen=True)
class ReferenceValue:
    """`dropped`: a reduction has taken the last dimension, and what is left has one fewer."""

    tree: ast.expr
    dropped: bool = False

    def copied(self) -> ReferenceValue:
        return ReferenceValue(copy.deepcopy(self.tree), self.dropped)


def names_in(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def outside_reductions(tree: ast.AST) -> set[str]:
    """The names that are more than a part of a reduction."""
    if is_reduction(tree):
        return set()
    own = {tree.id} if isinstance(tree, ast.Name) else set[str]()
    return own.union(*map(outside_reductions, ast.iter_child_nodes(tree)))


def filled(formula: str, arguments: Sequence[ast.expr], **named: ast.expr) -> ast.expr:
    """The formula's tree, with trees in the places of `{0}` and `{eps}`."""
    places = {str(number): tree for number, tree in enumerate(arguments)} | named
    text = formula.format(
        *(f"_place_{number}" for number in range(len(arguments))),
        **{name: f"_place_{name}" for name in named},
    )
    tree: ast.expr = _Filler(places).visit(ast.parse(text, mode="eval").body)
    return tree


class _Filler(ast.NodeTransformer):
    def __init__(self, places: Mapping[str, ast.expr]) -> None:
        self._places = places

    def visit_Name(self, node: ast.Name) -> ast.expr:
        place = node.id.removeprefix("_place_")
        return node if place == node.id else copy.deepcopy(self._places[place])


def number(node: ast.expr) -> float | None:
    """Value of a literal number; a bool is not one."""
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
