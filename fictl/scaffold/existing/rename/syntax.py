"""Places in a Python file where an op's name means the op, and where it means something else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from fictl.project.check.bindings import kernel_attributes
from fictl.scaffold.existing.rename.renaming import Renaming
from fictl.scaffold.existing.rename.text import WORD
from fictl.syntax import parse_module

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass
class Syntax:
    """Offsets of names. Those of neither kind are definitions and prose.

    In a file that is not the op's `own`, kernels have the names of another module.
    """

    text: str
    renaming: Renaming
    own: bool
    ours: set[int] = field(default_factory=set)
    others: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._lines = self.text.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))
        tree = parse_module(self.text)
        self._read(tree)
        for scope in ast.walk(tree):
            if isinstance(scope, _SCOPES) or scope is tree:
                self._shadow(scope)
        self.ours -= self.others

    def _read(self, tree: ast.Module) -> None:
        kernel = {id(node) for node in kernel_attributes(tree)} if self.own else set()
        modules = {*self._facades, *self._own_modules(tree)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                is_ours = id(node) in kernel or ast.unparse(node.value) in modules
                offsets = self.ours if is_ours else self.others
                offsets.add(self._offset(node.end_lineno, node.end_col_offset) - len(node.attr))
            elif isinstance(node, ast.keyword) and node.arg == "uses":
                self.ours |= self._words(node.value)
            elif isinstance(node, ast.keyword | ast.arg):
                self.others.add(self._start(node))
            elif isinstance(node, ast.Name | ast.alias) and self.renaming.is_whole(_name(node)):
                self.ours.add(self._start(node))

    @property
    def _facades(self) -> tuple[str, ...]:
        project = self.renaming.before.project
        return ("fictl.ops",) if project.is_shipped else (f"{project.package}.ops", "ops")

    def _own_modules(self, tree: ast.Module) -> Iterator[str]:
        """`trace` of `from . import trace`, or of the op's package."""
        before = self.renaming.before
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                whole = (node.module or "") == before.package and not node.level
                if whole or (node.level == 1 and not node.module):
                    yield from (alias.asname or alias.name for alias in node.names)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if f"{alias.name}.".startswith(f"{before.package}."):
                        yield alias.asname or alias.name

    def _shadow(self, scope: ast.AST) -> None:
        """Names that a function binds itself, or that a file has from elsewhere."""
        bound = {*(self._imported(scope) if isinstance(scope, ast.Module) else _bound(scope))}
        for node in ast.walk(scope) if bound else ():
            if isinstance(node, ast.Name | ast.alias | ast.arg) and _name(node) in bound:
                self.others.add(self._start(node))

    def _imported(self, tree: ast.Module) -> Iterator[str]:
        package = self.renaming.before.project.package
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and not node.level:
                module = node.module or ""
                if module not in self._facades and not module.startswith(f"{package}."):
                    yield from (alias.name for alias in node.names)

    def _words(self, value: ast.expr) -> set[int]:
        start = self._start(value)
        end = self._offset(value.end_lineno, value.end_col_offset)
        matches = WORD.finditer(self.text, start, end)
        return {match.start() for match in matches if self.renaming.is_whole(match[0])}

    def _start(self, node: ast.expr | ast.alias | ast.arg | ast.keyword) -> int:
        return self._offset(node.lineno, node.col_offset)

    def _offset(self, line: int | None, column: int | None) -> int:
        """Columns of a syntax tree are in bytes."""
        index = (line or 1) - 1
        before = self._lines[index].encode()[:column] if self._lines else b""
        return self._starts[index] + len(before.decode())


def _name(node: ast.Name | ast.alias | ast.arg) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.name if isinstance(node, ast.alias) else node.arg


def _bound(scope: ast.AST) -> Iterator[str]:
    for node in ast.walk(scope):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
