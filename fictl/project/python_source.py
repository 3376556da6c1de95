"""Reading Python files without running them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from fictl.errors import UsageError


class SourceError(UsageError):
    """A source file that cannot be used as it is, and the line that is wrong."""

    def __init__(self, path: Path, line: int, problem: str, hint: str = "") -> None:
        super().__init__(f"{path}:{line}: {problem}", hint)
        self.path, self.line, self.problem = path, line, problem


def parse(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_bytes())
    except SyntaxError as error:
        raise SourceError(path, error.lineno or 1, f"not valid Python: {error.msg}") from None
    except (OSError, ValueError) as error:
        raise SourceError(path, 1, f"cannot be read: {error}") from error


def definitions(tree: ast.Module) -> dict[str, ast.stmt]:
    """The names that a module binds at its top level, and the last statement that does."""
    return {name: statement for statement in tree.body for name in _bound(statement)}


def _bound(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield statement.name
    elif isinstance(statement, ast.Assign):
        yield from (target.id for target in statement.targets if isinstance(target, ast.Name))
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        yield statement.target.id


def assigned(tree: ast.Module, name: str) -> ast.expr | None:
    """The value that a top-level assignment gives to `name`."""
    statement = definitions(tree).get(name)
    return statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
