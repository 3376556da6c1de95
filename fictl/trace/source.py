"""Makes a function's source run by itself, with the imports and definitions that it uses.

Definitions are its own file's, and those that it imports from files beside it.
"""

from __future__ import annotations

import ast
import inspect
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from fictl.errors import UsageError
from fictl.syntax import parse_module
from fictl.user_file import read_text


@dataclass(frozen=True)
class _File:
    path: Path
    text: str
    tree: ast.Module
    importers: tuple[Path, ...] = ()

    @classmethod
    def at(cls, path: Path, importers: tuple[Path, ...] = ()) -> _File:
        text = read_text(path)
        return cls(path, text, parse_module(text), importers)


@dataclass(frozen=True)
class _Piece:
    """A statement at the top level of a file."""

    file: _File
    statement: ast.stmt

    @property
    def text(self) -> str:
        lines = self.file.text.splitlines()
        return "\n".join(lines[_first(self.statement) - 1 : self.statement.end_lineno])

    @property
    def order(self) -> int:
        """Sort __future__ first, then imports, then definitions."""
        if _is_future(self.statement):
            return 0
        return 1 if isinstance(self.statement, ast.Import | ast.ImportFrom) else 2


@dataclass(frozen=True)
class Standalone:
    """`text` defines `name` at its top level; `names` are all that it binds there."""

    name: str
    text: str
    names: frozenset[str]


@lru_cache(maxsize=256)
def standalone(function: Callable[..., Any]) -> Standalone:
    """Extract a function at the top level of a file, or a lambda."""
    code = getattr(function, "__code__", None)
    path = inspect.getsourcefile(function) if code else None
    if code is None or path is None:
        raise UsageError(f"{function!r} has no source", "write it as a def in trace.py")
    where = f"{path}:{code.co_firstlineno}: {code.co_name}"
    if code.co_freevars:
        raise UsageError(
            f"{where} uses {', '.join(code.co_freevars)} of the enclosing function",
            "a reference must run by itself: write it at the top level of trace.py",
        )
    file = _File.at(Path(path))
    node = _node(file.tree, code.co_firstlineno, code.co_name, where)
    pieces = _distinct(_needed(file, node, where), where)
    bound = frozenset(name for piece in pieces for name in _binds(piece.statement))
    others = [piece for piece in pieces if piece.statement is not node]
    if isinstance(node, ast.Lambda):
        name, body = "_reference", f"_reference = {ast.unparse(node)}"
    else:
        name, body = code.co_name, _Piece(file, node).text
    return Standalone(name, _spaced(others) + body + "\n", bound | {name})


def _spaced(pieces: list[_Piece]) -> str:
    """Join statements: imports directly below each other, blank lines between definitions."""
    nexts = [*(piece.statement for piece in pieces), None][1:]
    return "".join(
        piece.text + _gap(piece.statement, following)
        for piece, following in zip(pieces, nexts, strict=True)
    )


def _distinct(pieces: Iterator[_Piece], where: str) -> list[_Piece]:
    """Keep the first of equal statements; refuse two that bind a name differently."""
    kept: dict[str, _Piece] = {}
    for piece in pieces:
        kept.setdefault(ast.unparse(piece.statement), piece)
    owners: dict[str, _Piece] = {}
    for piece in kept.values():
        for name in _binds(piece.statement):
            other = owners.setdefault(name, piece)
            if other.file.path != piece.file.path:
                raise UsageError(
                    f"{where} uses {name} of {other.file.path.name} and of {piece.file.path.name}",
                    "an exported reference is one file: give one of them another name",
                )
    return sorted(kept.values(), key=lambda piece: piece.order)


def _gap(statement: ast.stmt, following: ast.stmt | None) -> str:
    imports = (ast.Import, ast.ImportFrom)
    if not (isinstance(statement, imports) and isinstance(following, imports)):
        return "\n\n\n"
    return "\n\n" if _is_future(statement) else "\n"


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _node(tree: ast.Module, line: int, name: str, where: str) -> ast.stmt | ast.Lambda:
    if name == "<lambda>":
        lambdas = [n for n in ast.walk(tree) if isinstance(n, ast.Lambda) and n.lineno == line]
        if len(lambdas) == 1:
            return lambdas[0]
        raise UsageError(f"{where} is one of {len(lambdas)} on its line", "write it as a def")
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == name and _first(node) == line:
            return node
    raise UsageError(
        f"{where} is not at the top level", "write it there: a reference must run by itself"
    )


def _needed(file: _File, wanted: ast.stmt | ast.Lambda, where: str) -> Iterator[_Piece]:
    """Statements that the function uses, directly or indirectly, in the order of their files."""
    nodes = _reached(file.tree, wanted)
    used = set[str]().union(*map(_uses, nodes))
    for statement in file.tree.body:
        if not _is_future(statement) and statement not in nodes:
            continue
        if isinstance(statement, ast.ImportFrom) and (
            statement.level or (statement.module or "").partition(".")[0] == "fictl"
        ):
            yield from _from_beside(file, statement, used, where)
        else:
            yield _Piece(file, statement)


def _reached(tree: ast.Module, wanted: ast.AST) -> set[ast.AST]:
    """The function, and the statements of its file that bind names which these use."""
    binding = {name: statement for statement in tree.body for name in _binds(statement)}
    reached, queue = set[ast.AST](), [wanted]
    while queue:
        node = queue.pop()
        if node not in reached:
            reached.add(node)
            queue += [binding[name] for name in _uses(node) if name in binding]
    return reached


def _from_beside(
    file: _File, statement: ast.ImportFrom, used: set[str], where: str
) -> Iterator[_Piece]:
    """Statements behind the functions that are imported from a file beside this one."""
    beside = file.path.parent / f"{statement.module}.py"
    is_simple = statement.level == 1 and statement.module and "." not in statement.module
    for alias in statement.names:
        if alias.asname or not is_simple or not os.path.isfile(beside) or beside in file.importers:
            raise UsageError(
                f"{where} uses {ast.unparse(statement)!r}",
                "an exported reference cannot import it: define it in trace.py",
            )
        if alias.name not in used:
            continue
        other = _File.at(beside, (*file.importers, file.path))
        defining = [node for node in other.tree.body if alias.name in _binds(node)]
        if not defining:
            raise UsageError(
                f"{where} uses {alias.name}, which {beside} does not define", "define it there"
            )
        yield from _needed(other, defining[-1], where)


def _uses(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return set()
    names = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
    return names - _parameters(node) if isinstance(node, ast.FunctionDef) else names


def _parameters(node: ast.FunctionDef) -> set[str]:
    """Names that are a function's own, whatever the file binds; its defaults may use the file's."""
    arguments = node.args
    own = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    outside = [*arguments.defaults, *arguments.kw_defaults, *node.decorator_list]
    return own - {n.id for d in outside if d for n in ast.walk(d) if isinstance(n, ast.Name)}


def _binds(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        for alias in statement.names:
            yield alias.asname or alias.name.partition(".")[0]
    elif isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        yield from (n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name))


def _first(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])
