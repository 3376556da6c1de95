"""Python's expressions as values: names, arithmetic, and what torch's functions leave to calls."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeAlias

from fictl.scaffold.new.reference.translate import torch_calls
from fictl.scaffold.new.reference.translate.call_parts import TorchCall
from fictl.scaffold.new.reference.translate.interfaces import ReferenceFile
from fictl.scaffold.new.reference.translate.value import (
    NoTranslation,
    ReferenceValue,
    is_none,
    names_in,
)

Scope: TypeAlias = dict[str, ReferenceValue | NoTranslation]
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)


class Reader:
    """Reader of one function's expressions, with the values of its names so far."""

    def __init__(self, file: ReferenceFile, scope: Scope, depth: int) -> None:
        self._file, self._scope, self._depth = file, scope, depth

    @property
    def tensors(self) -> set[str]:
        return self._file.tensors

    def later(self, node: ast.expr) -> ReferenceValue | NoTranslation:
        """Read a value, or keep the reason against it until it is used: a dtype or a shape often is not."""
        try:
            return self.value(node)
        except NoTranslation as error:
            return error

    def value(self, node: ast.expr) -> ReferenceValue:
        match node:
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return ReferenceValue(ast.Constant(number))
            case ast.Name(id=name):
                return self._named(node, name)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
                inside = self.value(operand)
                return ReferenceValue(ast.UnaryOp(sign, inside.tree), inside.dropped)
            case ast.BinOp(left=a, op=op, right=b) if isinstance(op, _OPERATORS):
                return self._join(node, lambda x, y: ast.BinOp(x, op, y), a, b)
            case ast.Compare(left=a, ops=[sign], comparators=[b]):
                return self._join(node, lambda x, y: ast.Compare(x, [sign], [y]), a, b)
            case ast.Call():
                return self._call(node)
            case ast.Subscript(value=inside, slice=index):
                return self._item(node, inside, index)
            case ast.Attribute(value=ast.Call() as inside, attr="values"):
                return torch_calls.extreme(self, inside)
            case ast.Tuple(elts=elements):
                # Why each is read: the part that has no translation is the one to name.
                for element in elements:
                    self.value(element)
                raise NoTranslation(node, "a kernel of an expression has one output")
        raise NoTranslation(node, "it has no translation")

    def joined(self, node: ast.expr, tree: ast.expr, *values: ReferenceValue) -> ReferenceValue:
        """A value of others; one of a row meets the row itself only where its dimension is kept."""
        dropped = [value for value in values if value.dropped]
        others = [value for value in values if not value.dropped]
        if dropped and any(names_in(value.tree) & self.tensors for value in others):
            raise NoTranslation(
                node, "a reduction without keepdim=True meets what has the last dimension"
            )
        return ReferenceValue(tree, bool(dropped))

    def _join(
        self,
        node: ast.expr,
        join: Callable[[ast.expr, ast.expr], ast.expr],
        a: ast.expr,
        b: ast.expr,
    ) -> ReferenceValue:
        left, right = self.value(a), self.value(b)
        return self.joined(node, join(left.tree, right.tree), left, right)

    def _named(self, node: ast.Name, name: str) -> ReferenceValue:
        known = self._scope.get(name)
        if isinstance(known, NoTranslation):
            raise known
        if known is not None:
            return known.copied()
        constant = self._file.constant(name)
        if constant is None:
            raise NoTranslation(node, f"{name} is neither a parameter nor a number")
        return ReferenceValue(constant).copied()

    def _item(self, node: ast.Subscript, inside: ast.expr, index: ast.expr) -> ReferenceValue:
        """`m[..., None]` gives a dimension back; `x.max(dim=-1)[0]` is the largest."""
        if isinstance(inside, ast.Call) and isinstance(index, ast.Constant) and index.value == 0:
            return torch_calls.extreme(self, inside)
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        whole = [ast.unparse(part) in (":", "...") for part in parts[:-1]]
        if is_none(parts[-1]) and all(whole):
            value = self.value(inside)
            if value.dropped:
                return ReferenceValue(value.tree)
        raise NoTranslation(node, "a kernel of an expression takes every element")

    def _call(self, node: ast.Call) -> ReferenceValue:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        own = self._file.function(name)
        if own is None:
            return torch_calls.value(self, TorchCall(node))
        given = own.args
        named = [
            posonlyarg.arg for posonlyarg in (*given.posonlyargs, *given.args, *given.kwonlyargs)
        ]
        positional = named[: len(named) - len(given.kwonlyargs)]
        defaults = zip(reversed(positional), reversed(given.defaults), strict=False)
        arguments = {**dict(defaults), **TorchCall(node).said(*named)}
        values = {name: self.value(argument) for name, argument in arguments.items()}
        return self._file.call(node, own, values, self._depth)
