"""Declarations of public functions, read from op.py without importing it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, cast

from fictl.arch import ArchRule
from fictl.dtype import DType, parse_dtype
from fictl.errors import InvalidValue
from fictl.project.decoration import op_arguments
from fictl.project.python_source import SourceError, parse

DEVICES = ("cuda", "emu")


class Parameter(NamedTuple):
    """A parameter; `default` (None if absent) and `annotation` ('' if absent) are source."""

    name: str
    default: str | None
    annotation: str = ""


@dataclass(frozen=True)
class Declaration:
    """One public name: a function, or a class whose `run` is decorated."""

    name: str
    line: int
    doc: str
    parameters: tuple[Parameter, ...]
    archs: ArchRule
    dtypes: tuple[DType, ...]
    devices: tuple[str, ...]
    mutates: tuple[str, ...]
    uses: tuple[str, ...]
    settings: Mapping[str, str]
    backends: Mapping[str, ArchRule] = field(default_factory=dict)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Parameters that the op writes, and allocates if the caller omits them."""
        optional = {parameter.name for parameter in self.parameters if parameter.default == "None"}
        return tuple(name for name in self.mutates if name in optional)


def read_declarations(path: Path) -> tuple[Declaration, ...]:
    """Return the declarations in file order; cached while the file is unchanged."""
    try:
        stat = path.stat()
    except OSError as error:
        raise SourceError(path, 1, f"cannot be read: {error.strerror}") from error
    return _read(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=512)
def _read(path: Path, _mtime_ns: int, _size: int) -> tuple[Declaration, ...]:
    declarations: list[Declaration] = []
    for node in parse(path).body:
        if isinstance(node, ast.FunctionDef):
            declarations.extend(_of_function(path, node))
        elif isinstance(node, ast.ClassDef):
            declarations.extend(_of_class(path, node))
    return tuple(declarations)


def _of_function(path: Path, node: ast.FunctionDef) -> Iterator[Declaration]:
    arguments = op_arguments(path, node)
    if arguments is not None:
        yield _declare(path, node, (node,), arguments)


def _of_class(path: Path, node: ast.ClassDef) -> Iterator[Declaration]:
    """Yield a class's declaration, with the parameters of both plan and run."""
    methods = {method.name: method for method in node.body if isinstance(method, ast.FunctionDef)}
    flat = tuple(methods[name] for name in ("plan", "run") if name in methods)
    decorated: tuple[ast.ClassDef | ast.FunctionDef, ...] = (node, *methods.values())
    for method in decorated:
        arguments = op_arguments(path, method)
        if arguments is None:
            continue
        if method is not methods.get("run"):
            raise SourceError(
                path, method.lineno, f"@op on {method.name}", f"in {node.name} put it on run"
            )
        yield _declare(path, node, flat, arguments)


def _declare(
    path: Path,
    node: ast.FunctionDef | ast.ClassDef,
    functions: Iterable[ast.FunctionDef],
    arguments: dict[str, object],
) -> Declaration:
    text = cast("dict[str, str]", arguments)
    parameters = tuple(dict.fromkeys(p for function in functions for p in _parameters(function)))
    try:
        backends = _backends(arguments["backends"], parameters)
        return Declaration(
            name=node.name,
            line=node.lineno,
            doc=(ast.get_docstring(node) or "").partition("\n")[0],
            parameters=parameters,
            archs=ArchRule.parse(text["archs"])
            if text["archs"] or not backends
            else ArchRule.any_of(backends.values()),
            dtypes=tuple(parse_dtype(name) for name in text["dtypes"].split()),
            devices=_known("devices", text["devices"], DEVICES),
            mutates=_known(
                "mutates", text["mutates"], [parameter.name for parameter in parameters]
            ),
            uses=tuple(text["uses"].split()),
            settings=cast("dict[str, str]", arguments["settings"]),
            backends=backends,
        )
    except InvalidValue as error:
        raise SourceError(path, node.lineno, f"{node.name}: {error.message}", error.hint) from None


def _backends(value: object, parameters: Iterable[Parameter]) -> dict[str, ArchRule]:
    backends = cast("dict[str, str]", value)
    if backends and "backend" not in {parameter.name for parameter in parameters}:
        raise InvalidValue("it has backends, but no parameter 'backend'", 'add backend="auto"')
    return {str(name): ArchRule.parse(str(text)) for name, text in backends.items()}


def _known(key: str, text: str, known: Iterable[str]) -> tuple[str, ...]:
    for name in text.split():
        if name not in known:
            raise InvalidValue(f"{key} names {name!r}", f"some of {', '.join(known)}")
    return tuple(text.split())


def _parameters(function: ast.FunctionDef) -> Iterator[Parameter]:
    given = function.args
    names = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    bare = len(names) - len(given.kwonlyargs) - len(given.defaults)
    defaults = [*([None] * bare), *given.defaults, *given.kw_defaults]
    for argument, default in zip(names, defaults, strict=True):
        if argument.arg != "self":
            annotation = _text(argument.annotation) if argument.annotation else ""
            yield Parameter(argument.arg, _text(default) if default else None, annotation)


def _text(node: ast.expr) -> str:
    """Return ast.unparse's text, with a fast path for common nodes such as names."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_text(node.value)}.{node.attr}"
    if isinstance(node, ast.Constant) and isinstance(node.value, (str, int, type(None))):
        return repr(node.value)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return f"{_text(node.left)} | {_text(node.right)}"
    return ast.unparse(node)
