"""Makes a function's source run by itself, with the imports and definitions of its file it uses."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from fictl.errors import UsageError
from fictl.syntax import parse_module
from fictl.user_file import read_text


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
    text = read_text(Path(path))
    tree = parse_module(text)
    node = _node(tree, code.co_firstlineno, code.co_name, where)
    statements = list(_needed(tree, node, where))
    bound = frozenset(name for statement in statements for name in _binds(statement))
    others = [statement for statement in statements if statement is not node]
    name = "_reference" if isinstance(node, ast.Lambda) else code.co_name
    body = f"{name} = {ast.unparse(node)}" if isinstance(node, ast.Lambda) else _text(text, node)
    return Standalone(name, _spaced(text, others) + body + "\n", bound | {name})


def _spaced(text: str, statements: list[ast.stmt]) -> str:
    """Join statements: imports directly below each other, blank lines between definitions."""
    nexts = [*statements, None][1:]
    return "".join(
        _text(text, statement) + _gap(statement, following)
        for statement, following in zip(statements, nexts, strict=True)
    )


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


def _needed(tree: ast.Module, wanted: ast.stmt | ast.Lambda, where: str) -> Iterator[ast.stmt]:
    """Statements that the function uses, directly or indirectly, in the order of the file."""
    binding = {name: statement for statement in tree.body for name in _binds(statement)}
    needed, queue = set[int](), [wanted]
    while queue:
        node = queue.pop()
        if id(node) in needed:
            continue
        needed.add(id(node))
        queue += [binding[name] for name in _uses(node) if name in binding]
    for statement in tree.body:
        if not _is_future(statement) and id(statement) not in needed:
            continue
        if isinstance(statement, ast.ImportFrom) and (
            statement.level or (statement.module or "").partition(".")[0] == "fictl"
        ):
            raise UsageError(
                f"{where} uses {ast.unparse(statement)!r}",
                "an exported reference cannot import it: define it in trace.py",
            )
        yield statement


def _uses(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return set()
    return {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}


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


def _text(text: str, node: ast.stmt) -> str:
    return "\n".join(text.splitlines()[_first(node) - 1 : node.end_lineno])
