"""Reading Python files without running them, and saying where one that runs is wrong."""

from __future__ import annotations

import ast
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from fictl.errors import FictlError, UsageError
from fictl.syntax import parse_module
from fictl.user_file import read_bytes


class SourceError(UsageError):
    """A source file that cannot be used as it is, and the line that is wrong."""

    def __init__(self, path: Path, line: int, problem: str, hint: str = "") -> None:
        super().__init__(f"{path}:{line}: {problem}", hint)
        self.path, self.line, self.problem = path, line, problem


@contextmanager
def running(path: Path) -> Iterator[None]:
    """Around code of that file: what it raises is an error of its author's, with the line."""
    try:
        yield
    except FictlError:
        raise
    except SyntaxError as error:
        where = Path(error.filename or path)
        raise SourceError(where, error.lineno or 1, f"not valid Python: {error.msg}") from error
    # What somebody's file raises can be anything, and SystemExit of theirs is not ours.
    except (Exception, SystemExit, GeneratorExit) as error:
        frames = traceback.extract_tb(error.__traceback__)
        line = next((f.lineno for f in reversed(frames) if f.filename == str(path)), None)
        raise SourceError(path, line or 1, f"{type(error).__name__}: {error}") from error


def parse(path: Path) -> ast.Module:
    """To read, not to change: who asks again soon, for a file that is as it was, gets the same."""
    try:
        stat = path.stat()
    except OSError as error:
        raise SourceError(path, 1, f"cannot be read: {error.strerror}") from error
    return _parse(path, stat.st_mtime_ns, stat.st_size)


# Why so few: rules look at one op after the other, and trees are large.
@lru_cache(maxsize=16)
def _parse(path: Path, _mtime_ns: int, _size: int) -> ast.Module:
    try:
        return parse_module(read_bytes(path))
    except SyntaxError as error:
        raise SourceError(path, error.lineno or 1, f"not valid Python: {error.msg}") from None
    except OSError as error:
        raise SourceError(path, 1, f"cannot be read: {error.strerror}") from error
    except ValueError as error:
        said = getattr(error, "message", error)
        raise SourceError(path, 1, f"cannot be read: {said}") from error


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
