"""Reads Python files without running them, and locates errors in files that run."""

from __future__ import annotations

import ast
import os
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from fictl.errors import FictlError, Terminated, UsageError, shown
from fictl.syntax import parse_module
from fictl.user_file import read_bytes

# Most items that a file may yield: far more than dozens of dtypes and sizes give.
_MOST = 10_000


class SourceError(UsageError):
    """Raised for a source file with an error; names the line."""

    code = "source"

    def __init__(self, path: Path, line: int, problem: str, hint: str = "") -> None:
        super().__init__(f"{path}:{line}: {problem}", hint)
        self.path, self.line, self.problem = path, line, problem


@contextmanager
def running(path: Path) -> Iterator[None]:
    """Turn exceptions of the file's code into SourceErrors that name the file's line."""
    try:
        yield
    except FictlError:
        raise
    except SyntaxError as error:
        text = f"not valid Python: {error.msg}"
        if error.filename and os.path.isfile(error.filename):
            raise SourceError(Path(error.filename), error.lineno or 1, text) from error
        raise SourceError(path, _line_in(path, error), text) from error
    except BaseException as error:  # A user's file can raise anything.
        if type(error) in (KeyboardInterrupt, Terminated):
            raise
        text = f"{type(error).__name__}: {error}"
        raise SourceError(path, _line_in(path, error), text) from error


def _line_in(path: Path, error: BaseException) -> int:
    """Return the line of the innermost frame of the error in this file."""
    frames = traceback.extract_tb(error.__traceback__)
    return next((f.lineno for f in reversed(frames) if f.filename == str(path)), None) or 1


@contextmanager
def yielded(path: Path, name: str, kind: str) -> Iterator[Callable[[Any], list[Any]]]:
    """Guard a call of `name` in the file; provide a function that checks and lists its items.

    kind: the name of the items' class; not the class, because it is defined in a higher layer.
    """
    with running(path):
        yield lambda given: _listed(path, name, kind, given)


def _listed(path: Path, name: str, kind: str, given: Any) -> list[Any]:
    if not isinstance(given, Iterable) or isinstance(given, (str, bytes, Mapping)):
        raise SourceError(
            path, _line_of(path, name), f"{name}() gives {shown(repr(given))}", f"yield each {kind}"
        )
    items = list(islice(given, _MOST + 1))
    if len(items) > _MOST:
        raise SourceError(
            path,
            _line_of(path, name),
            f"{name}() has more than {_MOST} of them, or no end",
            f"yield each {kind} once, and return",
        )
    strange = [item for item in items if kind not in {base.__name__ for base in type(item).__mro__}]
    if strange:
        raise SourceError(
            path,
            _line_of(path, name),
            f"{name}() yields {shown(repr(strange[0]))}",
            f"yield each {kind}",
        )
    return items


def _line_of(path: Path, name: str) -> int:
    statement = definitions(parse(path)).get(name)
    return statement.lineno if statement else 1


def parse(path: Path) -> ast.Module:
    """Parse a file. The tree is cached while the file is unchanged: do not modify it."""
    try:
        stat = path.stat()
    except OSError as error:
        raise SourceError(path, 1, f"cannot be read: {error.strerror}") from error
    return _parse(path, stat.st_mtime_ns, stat.st_size)


# A small cache: rules check one op after the other, and trees are large.
@lru_cache(maxsize=16)
def _parse(path: Path, _mtime_ns: int, _size: int) -> ast.Module:
    try:
        return parse_module(read_bytes(path))
    except SyntaxError as error:
        raise SourceError(path, error.lineno or 1, f"not valid Python: {error.msg}") from None
    except OSError as error:
        raise SourceError(path, 1, f"cannot be read: {error.strerror}") from error
    except ValueError as error:
        reason = getattr(error, "message", error)
        raise SourceError(path, 1, f"cannot be read: {reason}") from error


def definitions(tree: ast.Module) -> dict[str, ast.stmt]:
    """Map each name bound at a module's top level to the last statement that binds it."""
    return {name: statement for statement in tree.body for name in _bound(statement)}


def _bound(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield statement.name
    elif isinstance(statement, ast.Assign):
        yield from (target.id for target in statement.targets if isinstance(target, ast.Name))
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        yield statement.target.id


def assigned(tree: ast.Module, name: str) -> ast.expr | None:
    """Return the value of the top-level assignment to `name`, or None."""
    statement = definitions(tree).get(name)
    return statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
