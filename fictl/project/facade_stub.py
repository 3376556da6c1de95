"""Generates `ops.pyi`: the functions of a facade, for editors and type checkers."""

from __future__ import annotations

import ast
import os
import re
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from fictl.errors import UsageError
from fictl.paths import PACKAGE, write_atomic
from fictl.project.discover import folders
from fictl.project.folder import OpFolder
from fictl.project.project import Project
from fictl.project.python_source import definitions, parse
from fictl.project.shared import shared

_WIDTH = 100
_HEAD = '''\
# ruff: noqa: I001, N803, PYI021, RUF100
"""The ops of {name} with their types. Generated from the declarations in every op.py."""'''

# Some type checkers cannot see a project's op folders; the types are then Any.
_MAY_BE_UNSEEN = "  # type: ignore[import-not-found, unused-ignore]"

Definition = ast.FunctionDef | ast.ClassDef
# Name -> the statement that imports it.
Imports = dict[str, str]


def stub(project: Project) -> str:
    """Return the text for `<package>/ops.pyi`; deterministic, without imports."""
    imports: Imports = {}
    texts: dict[str, str] = {}
    for folder in folders(project):
        tree = parse(folder.op)
        known = _imports(folder, tree)
        for declaration in folder.declarations():
            node = definitions(tree)[declaration.name]
            assert isinstance(node, Definition)
            text = texts[node.name] = "\n".join(_definition(node))
            _merge(imports, {name: known[name] for name in _used(text) if name in known}, folder)
    for _, place, name in shared(project):
        imports[name] = f"from {place} import {name} as {name}{_MAY_BE_UNSEEN}"
    needed = sorted({imports[name] for name in imports.keys() - texts.keys()})
    body = _spaced(texts[name] for name in sorted(texts))
    parts = _HEAD.format(name=project.name), "\n".join(needed), body
    return "\n\n".join(filter(None, parts)) + "\n"


def write_shipped_stub(package: Path = PACKAGE) -> Path | None:
    """Write `ops.pyi` of the shipped ops into fictl's package; return its path if it changed.

    Wheels contain it. In a checkout it is not committed, but rewritten when ops have changed.
    """
    return _write(package / "ops.pyi", stub(Project.shipped()))


def refresh_stub(project: Project) -> Path | None:
    """Write the stub of a project beside its package's `__init__.py`; return its path if it changed.

    A project that has no such package has no stub: it is imported in place, by tools alone.
    """
    if project.is_shipped:
        return write_shipped_stub()
    package = project.root / project.package
    if not os.path.isfile(package / "__init__.py"):
        return None
    return _write(package / "ops.pyi", stub(project))


def _write(path: Path, text: str) -> Path | None:
    with suppress(OSError, UnicodeDecodeError):
        if path.read_text(encoding="utf-8") == text:
            return None
    write_atomic(path, text)
    return path


def _definition(node: Definition, indent: str = "") -> Iterator[str]:
    if isinstance(node, ast.FunctionDef):
        yield from _function(node, indent)
        return
    bases = ", ".join(map(_text, node.bases))
    # A base in a file that the checker cannot see is Any, which strict mode rejects as a base.
    unseen = "  # type: ignore[misc, unused-ignore]"
    yield f"{indent}class {node.name}" + (f"({bases}):{unseen}" if bases else ":")
    inner = indent + "    "
    members = ["\n".join(_docstring(node, inner))]
    for member in node.body:
        if isinstance(member, ast.AnnAssign) and _is_public(_text(member.target)):
            members.append(f"{inner}{_text(member.target)}: {_text(member.annotation)}")
        elif isinstance(member, ast.FunctionDef) and _is_public(member.name):
            members.append("\n".join(_function(member, inner)))
    yield from (_spaced(filter(None, members)) or f"{inner}...").split("\n")


def _spaced(definitions: Iterable[str]) -> str:
    """Join definitions as formatters do: a blank line only after those with a docstring."""
    return "".join(
        text + ("\n\n" if text.endswith('"""') else "\n") for text in definitions
    ).rstrip("\n")


def _function(node: ast.FunctionDef, indent: str) -> Iterator[str]:
    for decorator in map(_text, node.decorator_list):
        if decorator in ("property", "staticmethod", "classmethod"):
            yield f"{indent}@{decorator}"
    parameters = list(_parameters(node.args))
    result = f" -> {_text(node.returns)}" if node.returns else ""
    doc = list(_docstring(node, indent + "    "))
    end = f"){result}:" + ("" if doc else " ...")
    line = f"{indent}def {node.name}({', '.join(parameters)}{end}"
    if len(line) <= _WIDTH:
        yield line
    else:
        yield f"{indent}def {node.name}("
        yield from (f"{indent}    {parameter}," for parameter in parameters)
        yield f"{indent}{end}"
    yield from doc


def _parameters(given: ast.arguments) -> Iterator[str]:
    positional = [*given.posonlyargs, *given.args]
    bare = len(positional) - len(given.defaults)
    defaults = [*([None] * bare), *given.defaults]
    for index, (argument, default) in enumerate(zip(positional, defaults, strict=True)):
        yield _parameter(argument, default)
        if index + 1 == len(given.posonlyargs):
            yield "/"
    if given.vararg:
        yield f"*{_parameter(given.vararg, None)}"
    elif given.kwonlyargs:
        yield "*"
    for argument, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        yield _parameter(argument, default)
    if given.kwarg:
        yield f"**{_parameter(given.kwarg, None)}"


def _parameter(argument: ast.arg, default: ast.expr | None) -> str:
    """Return a parameter's text; a default that is not a plain value becomes `...`."""
    kind = f": {_text(argument.annotation)}" if argument.annotation else ""
    if default is None:
        return argument.arg + kind
    value = _text(default) if _is_plain(default) else "..."
    return f"{argument.arg}{kind} = {value}" if kind else f"{argument.arg}={value}"


def _is_plain(value: ast.expr) -> bool:
    operand = value.operand if isinstance(value, ast.UnaryOp) else value
    if isinstance(operand, ast.Constant):
        return not isinstance(operand.value, str) or '"' not in operand.value
    return False


def _docstring(node: Definition, indent: str) -> Iterator[str]:
    text = ast.get_docstring(node)
    if not text:
        return
    raw = "\\" in text and '"""' not in text and text[-1] not in '\\"'
    if not raw:
        text = text.replace("\\", "\\\\").replace('"""', r"\"\"\"")
        text = text[:-1] + '\\"' if text.endswith('"') else text
    quoted = ('r"""' if raw else '"""') + text + ('\n"""' if "\n" in text else '"""')
    yield from textwrap.indent(quoted, indent).split("\n")


def _text(node: ast.expr) -> str:
    """Return the source of a node, with a formatter's quotes."""
    return re.sub(r"'([^'\"\\\\]*)'", r'"\1"', ast.unparse(node))


def _is_public(name: str) -> bool:
    return not name.startswith("_") or name in ("__init__", "__call__")


def _used(definition: str) -> set[str]:
    """Return the names used in a definition's signatures."""
    return {node.id for node in ast.walk(ast.parse(definition)) if isinstance(node, ast.Name)}


def _imports(folder: OpFolder, tree: ast.Module) -> Imports:
    """Return import statements that make op.py's top-level names available elsewhere."""
    module = f"{folder.package}.op"
    imports = {name: f"from {module} import {name}{_MAY_BE_UNSEEN}" for name in definitions(tree)}
    for statement in _import_statements(tree):
        for alias in statement.names:
            name = alias.asname or alias.name
            renamed = f"{alias.name} as {name}" if alias.asname else name
            if isinstance(statement, ast.Import):
                imports[name.partition(".")[0]] = f"import {renamed}"
            else:
                above = module.split(".")[: -statement.level] if statement.level else []
                origin = ".".join([*above, *filter(None, [statement.module])])
                unseen = _MAY_BE_UNSEEN if statement.level else ""
                imports[name] = f"from {origin} import {renamed}{unseen}"
    return imports


def _import_statements(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the top-level imports, including those under `if TYPE_CHECKING`."""
    for statement in tree.body:
        inside = statement.body if isinstance(statement, ast.If) else [statement]
        yield from (inner for inner in inside if isinstance(inner, ast.Import | ast.ImportFrom))


def _merge(imports: Imports, added: Imports, folder: OpFolder) -> None:
    for name, statement in added.items():
        if imports.setdefault(name, statement) != statement:
            raise UsageError(
                f"{folder.op}: {name} is of `{statement}`, in another op of `{imports[name]}`",
                "give one of them another name: for an editor all ops are in one module",
            )
