"""A call of torch taken apart: `x.sum(-1)` and torch.sum(x, dim=-1) are one."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property

from fictl.scaffold.new.reference.translate.value import is_none

_NAMESPACES = (
    "torch",
    "F",
    "torch.nn.functional",
    "nn.functional",
    "functional",
    "torch.special",
    "torch.linalg",
)


@dataclass(frozen=True)
class TorchCall:
    """`name` is empty where what is called has none."""

    node: ast.Call

    @property
    def name(self) -> str:
        called = self.node.func
        if isinstance(called, ast.Attribute):
            return called.attr
        return called.id if isinstance(called, ast.Name) else ""

    @property
    def owner(self) -> ast.expr | None:
        """The object that a method is called on."""
        called = self.node.func
        if isinstance(called, ast.Attribute) and ast.unparse(called.value) not in _NAMESPACES:
            return called.value
        return None

    @cached_property
    def arguments(self) -> list[ast.expr]:
        """Arguments of the call; the object of a method is the first."""
        return [*([self.owner] if self.owner is not None else []), *self.node.args]

    @cached_property
    def words(self) -> dict[str, ast.expr]:
        return {word.arg: word.value for word in self.node.keywords if word.arg}

    def said(self, *order: str) -> dict[str, ast.expr]:
        """Arguments by name, where `order` names those by place; None counts as left out."""
        placed = dict(zip(order, self.arguments, strict=False))
        return {name: node for name, node in {**placed, **self.words}.items() if not is_none(node)}

    def literal(self, name: str, place: int = -1) -> object:
        """None where it is left out, "?" where it is not a literal."""
        placed = self.arguments[place] if 0 < place < len(self.arguments) else None
        node = self.words.get(name, placed)
        try:
            value: object = ast.literal_eval(node) if node is not None else None
        except ValueError:
            return "?"
        # One dimension, as in mean((-1,)).
        return value[0] if isinstance(value, (tuple, list)) and len(value) == 1 else value

    @property
    def dim(self) -> object:
        return self.literal("dim", 1)
