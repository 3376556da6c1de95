"""A reference in somebody's file: found by name, and cut out with what it needs to stand alone."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path

from fictl.errors import MissingFile, UsageError
from fictl.project.python_source import parse
from fictl.scaffold.kinds.wrap import py
from fictl.user_file import read_text

FORM = "write FILE.py:FUNCTION, as in --from ref.py:my_function"
_NAME = "_reference"


@dataclass(frozen=True)
class FunctionSource:
    """A function at the top level of a file."""

    path: Path
    node: ast.FunctionDef
    tree: ast.Module

    @cached_property
    def lines(self) -> list[str]:
        return read_text(self.path).splitlines()

    @property
    def body(self) -> list[ast.stmt]:
        """Statements without the docstring."""
        has_docstring = ast.get_docstring(self.node, clean=False) is not None
        return self.node.body[1:] if has_docstring else self.node.body

    def at(self, node: ast.AST) -> str:
        """Place of a node, as errors show it."""
        return f"{self.path}:{getattr(node, 'lineno', self.node.lineno)}"


def read_function(text: str) -> FunctionSource:
    file, _, name = text.rpartition(":")
    if not file or not name:
        raise UsageError(f"{text!r} names no function of a file", FORM)
    path = Path(file)
    if not os.path.isfile(path):
        raise MissingFile(f"there is no file {file}", FORM)
    tree = parse(path)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    if name not in functions:
        close = get_close_matches(name, functions, n=1)
        meant = f"did you mean {close[0]!r}? " if close else ""
        known = ", ".join(functions) or "none"
        raise UsageError(
            f"{file} has no function {name!r} at its top level", f"{meant}it has {known}"
        )
    source = FunctionSource(path, functions[name], tree)
    _check(source)
    return source


def _check(function: FunctionSource) -> None:
    given = function.node.args
    if given.vararg or given.kwarg:
        stars = given.vararg or given.kwarg
        raise UsageError(
            f"{function.at(function.node)}: {function.node.name} takes any number of arguments, "
            f"in {stars.arg if stars else ''!r}",
            "an op has a name for each: write them out",
        )
    if not function.body:
        raise UsageError(
            f"{function.at(function.node)}: {function.node.name} does nothing",
            "let it return what the op computes",
        )


def cut_out(
    function: FunctionSource, parameters: Sequence[str], result: str, renamed: Mapping[str, str]
) -> tuple[str, tuple[str, ...]]:
    """`_reference` with these parameters, after what it needs of its file, and the imports.

    What comes along gets a leading '_': a trace's public names are those of its op's functions.
    """
    needed = list(_needed(function))
    imports = [s for s in needed if isinstance(s, (ast.Import, ast.ImportFrom))]
    brought = [s for s in needed if s not in imports]
    private = {
        n: f"_{n}" for statement in brought for n in _binds(statement) if not n.startswith("_")
    }
    private[function.node.name] = _NAME
    texts = [_text(function.lines, [statement], private) for statement in brought]
    head = py(f"def {_NAME}(", parameters, f") -> {result}:")
    body = _body(function, {**private, **renamed})
    return "\n\n\n".join([*texts, f"{head}\n{body}"]), _imports(function, imports)


def _imports(function: FunctionSource, statements: Sequence[ast.stmt]) -> tuple[str, ...]:
    """One for each name that is used; `import torch` is in every trace."""
    used = set(_used(function))
    names = []
    for statement in statements:
        assert isinstance(statement, (ast.Import, ast.ImportFrom))
        _refuse_local(function, statement)
        statement.names = [
            a for a in statement.names if (a.asname or a.name.partition(".")[0]) in used
        ]
        names.append(ast.unparse(statement))
    return tuple(sorted({*names} - {"import torch"}))


def _refuse_local(function: FunctionSource, statement: ast.Import | ast.ImportFrom) -> None:
    """The trace stands in another folder, where this import means nothing."""
    names = [alias.name for alias in statement.names]
    modules = names if isinstance(statement, ast.Import) else [statement.module or ""]
    folder = function.path.parent
    for module in modules:
        top = module.partition(".")[0]
        beside = os.path.isfile(folder / f"{top}.py") or os.path.isfile(
            folder / top / "__init__.py"
        )
        if getattr(statement, "level", 0) or beside:
            raise UsageError(
                f"{function.at(statement)}: {function.node.name} uses {ast.unparse(statement)!r}",
                f"the op's trace cannot import that: define it in {function.path.name}",
            )


def _needed(function: FunctionSource) -> Iterator[ast.stmt]:
    """The statements of the file that bind what it uses, in the order of the file."""
    used = set(_used(function))
    for statement in function.tree.body:
        if statement is not function.node and {*_binds(statement)} & used:
            yield statement


def _used(function: FunctionSource) -> Iterator[str]:
    binding = {name: s for s in function.tree.body for name in _binds(s)}
    queue: list[ast.AST] = [*function.body]
    seen: set[str] = set()
    while queue:
        for node in ast.walk(queue.pop()):
            if isinstance(node, ast.Name) and node.id not in seen:
                seen.add(node.id)
                statement = binding.get(node.id)
                if statement is not None and not _is_import(statement):
                    queue.append(statement)
    own = {inner.arg for inner in ast.walk(function.node.args) if isinstance(inner, ast.arg)}
    yield from seen - own - {function.node.name}


def _is_import(statement: ast.stmt) -> bool:
    return isinstance(statement, (ast.Import, ast.ImportFrom))


def _binds(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        yield statement.name
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in statement.names)
    elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        yield from (n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name))


def _body(function: FunctionSource, names: Mapping[str, str]) -> str:
    statements = function.body
    first = statements[0]
    if first.lineno == function.node.lineno or first.lineno == _header_end(function.node):
        return "\n".join(f"    {ast.unparse(_Renamed(names).visit(s))}" for s in statements)
    return _text(function.lines, statements, names)


def _header_end(node: ast.FunctionDef) -> int:
    """The line of the last thing in its head, where a body of one line may stand, too."""
    parts = [*ast.walk(node.args), *([node.returns] if node.returns else [])]
    return max((getattr(part, "end_lineno", 0) or 0 for part in parts), default=0)


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self._names.get(node.id, node.id), node.ctx)


def _text(lines: Sequence[str], statements: Sequence[ast.stmt], names: Mapping[str, str]) -> str:
    """Source text as its author wrote it, with comments, except for the names."""
    first = _first(statements[0])
    while first > 1 and lines[first - 2].lstrip().startswith("#"):
        first -= 1
    last = statements[-1].end_lineno or first
    cut = [line.encode() for line in lines[first - 1 : last]]
    for line, column, old in sorted(_places(statements, names, lines), reverse=True):
        text = cut[line - first]
        new = names[old].encode()
        cut[line - first] = text[:column] + new + text[column + len(old.encode()) :]
    return b"\n".join(cut).decode()


def _places(
    statements: Sequence[ast.stmt], names: Mapping[str, str], lines: Sequence[str]
) -> set[tuple[int, int, str]]:
    """(line, column in bytes, name) of every name that changes."""
    spans: set[tuple[int, int, str]] = set()
    for node in (inner for statement in statements for inner in ast.walk(statement)):
        if isinstance(node, ast.Name) and node.id in names:
            spans.add((node.lineno, node.col_offset, node.id))
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in names:
            line = lines[node.lineno - 1]
            named = re.search(rf"\b(?:def|class)\s+({re.escape(node.name)})\b", line)
            if named:
                spans.add((node.lineno, len(line[: named.start(1)].encode()), node.name))
    return spans


def _first(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])
