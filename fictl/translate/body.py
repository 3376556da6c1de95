"""Translates a function's statements: assignments, if, return; infers types of locals."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum

from fictl.translate.expression import ExpressionWriter
from fictl.translate.python_function import PythonFunction
from fictl.translate.refused import Refused
from fictl.translate.spelling import identifier
from fictl.translate.value import Type, Value


class Result(Enum):
    """Kind of return value."""

    CONDITION = "a condition"
    NUMBER = "a number"


def body(
    function: PythonFunction, values: Mapping[str, Value], result: Result
) -> tuple[list[str], frozenset[str]]:
    """Return the C++ lines, and the headers of fictl/device/ that they need.

    values: the C++ values of the parameters. Locals keep their names, with '_' appended if one of
    these values uses the name.
    """
    types: dict[str, Type] = {}
    try:
        while True:
            before = dict(types)
            written = _Body(function, values, result, types)
            written.write()
            # Repeat until types are stable: a later float makes the local a float everywhere.
            if types == before:
                return written.lines, frozenset(written.headers)
    except Refused as refused:
        raise function.error(refused) from None


class _Body:
    """One pass over a function. types: types of locals, as found by earlier passes."""

    def __init__(
        self,
        function: PythonFunction,
        values: Mapping[str, Value],
        result: Result,
        types: dict[str, Type],
    ) -> None:
        self.lines: list[str] = []
        self.headers: set[str] = set()
        self._function, self._result, self._types = function, result, types
        self._assigned = [*_assignments(function.statements)]
        written = (text for value in values.values() for text in (value.text, value.divisor))
        self._taken = frozenset(written) | {"at"}
        self._names = dict(values)
        self._declared: set[str] = set()
        self._indent = ""

    def write(self) -> None:
        statements = self._function.statements
        # Parameters that are assigned to become locals, initialised with the parameter.
        for name in dict.fromkeys(self._assigned):
            if name in self._names:
                self._declare(name, self._names[name], starts=True, changes=True)
        if self._block(statements, {*self._names}) is not None:
            last: ast.AST = statements[-1] if statements else self._function.arguments
            raise Refused(last, "it may end here without a return", "return a value on every way")

    def _block(self, statements: Sequence[ast.stmt], known: set[str]) -> set[str] | None:
        """Write a block. Return the names with a value at its end; None if all paths return."""
        known = {*known}
        for statement in statements:
            match statement:
                case ast.Return(value=ast.expr() as value):
                    self._line(f"return {self._returned(value, known)};")
                    return None
                case ast.If():
                    left = self._if(statement, known)
                    if left is None:
                        return None
                    known = left
                case ast.Pass() | ast.Expr(value=ast.Constant()):
                    pass
                case _:
                    known.add(self._assign(statement, known))
        return known

    def _returned(self, node: ast.expr, known: set[str]) -> str:
        writer = self._writer(known)
        if self._result is Result.CONDITION:
            return self._used(writer.condition(node))
        value = writer.value(node)
        if value.type is Type.BOOL:
            hint = "as a number it is where(condition, 1.0, 0.0)"
            raise Refused(node, "it returns a condition where a number is wanted", hint)
        return self._used(value)

    def _if(self, node: ast.If, known: set[str]) -> set[str] | None:
        for name in dict.fromkeys(_assignments([node])):
            if name not in self._declared:
                self._declare(name, Value("", self._types.get(name, Type.BOOL)))
        ends: list[set[str] | None] = []
        word, rest = "if", [node]
        while rest:
            test = self._used(self._writer(known).condition(rest[0].test))
            self._line(f"{word} ({test}) {{")
            ends.append(self._inside(rest[0].body, known))
            word, other = "} else if", rest[0].orelse
            rest = [
                statement
                for statement in other[:1]
                if isinstance(statement, ast.If) and len(other) == 1
            ]
        if other:
            self._line("} else {")
        ends.append(self._inside(other, known))
        self._line("}")
        left = [end for end in ends if end is not None]
        return set.intersection(*left) if left else None

    def _inside(self, statements: Sequence[ast.stmt], known: set[str]) -> set[str] | None:
        self._indent += "  "
        end = self._block(statements, known)
        self._indent = self._indent[:-2]
        return end

    def _assign(self, node: ast.stmt, known: set[str]) -> str:
        """Write an assignment and return the name."""
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                pass
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=right):
                left = ast.copy_location(ast.Name(name, ast.Load()), target)
                value = ast.copy_location(ast.BinOp(left, op, right), node)
            case _:
                shown = ast.unparse(node).partition("\n")[0]
                raise Refused(node, f"{shown!r} has no translation")
        written = self._writer(known).value(value)
        text = self._used(written)
        if name in self._declared:
            self._line(f"{self._local(name, written).text} = {text};")
        else:
            self._declare(name, written, starts=True)
        return name

    def _declare(
        self, name: str, value: Value, starts: bool = False, changes: bool = False
    ) -> None:
        """Declare a local. starts: initialise it with the value, else only use the type."""
        changes = changes or not starts or self._assigned.count(name) > 1
        local = self._local(name, value, uniform=value.uniform and not changes)
        self._declared.add(name)
        zero = {Type.BOOL: "false", Type.INT: "0", Type.FLOAT: "0.0f"}[local.type]
        start = value.text if starts else zero
        self._line(f"{'' if changes else 'const '}{local.type.cpp} {local.text} = {start};")

    def _local(self, name: str, value: Value, uniform: bool = False) -> Value:
        """Merge this value's type into a local, and return the local."""
        kind = self._types[name] = max(value.type, self._types.get(name, value.type))
        inexact = value.inexact or (name in self._declared and self._names[name].inexact)
        self._names[name] = Value(
            identifier(name, self._taken), kind, uniform=uniform, inexact=inexact
        )
        return self._names[name]

    def _writer(self, known: set[str]) -> ExpressionWriter:
        names = {name: value for name, value in self._names.items() if name in known}
        return ExpressionWriter(names, self._visible)

    def _visible(self, name: str) -> object:
        """Look up an outer name; locals hide it, even before they have a value."""
        inside = name.partition(".")[0] in {*self._assigned, *self._names}
        return None if inside else self._function.visible(name)

    def _used(self, value: Value) -> str:
        self.headers |= value.headers
        return value.text

    def _line(self, text: str) -> None:
        self.lines.append(self._indent + text)


def _assignments(statements: Sequence[ast.stmt]) -> Iterator[str]:
    for node in (inner for statement in statements for inner in ast.walk(statement)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
