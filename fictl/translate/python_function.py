"""PythonFunction: a function's syntax tree, read from its file, and visible outer names."""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType, ModuleType
from typing import Any

from fictl.syntax import parse_module
from fictl.translate.refused import Refused, Untranslatable, at
from fictl.translate.value import Type

_TYPES = {"bool": Type.BOOL, "int": Type.INT, "float": Type.FLOAT}


@dataclass(frozen=True)
class Parameter:
    """A parameter. `type` is None if unknown; `default` is None if it is required."""

    name: str
    type: Type | None
    default: float | int | bool | None
    node: ast.arg


@dataclass(frozen=True)
class PythonFunction:
    """A function's source. visible: looks up outer names (modules, functions, numbers)."""

    name: str
    file: str
    lines: Sequence[str]
    arguments: ast.arguments
    statements: Sequence[ast.stmt]
    visible: Callable[[str], Any]

    def error(self, refused: Refused) -> Untranslatable:
        return at(refused, self.file, self.lines, self.name)

    def refused(self, node: ast.AST, why: str, hint: str = "") -> Untranslatable:
        """Make the error, with the location of the node."""
        return self.error(Refused(node, why, hint))

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        given = self.arguments
        star = given.vararg or given.kwarg
        if star is not None:
            raise self.error(Refused(star, "it takes any number of arguments", "name each"))
        placed = [*given.posonlyargs, *given.args]
        gaps: list[ast.expr | None] = [None] * (len(placed) - len(given.defaults))
        pairs = [
            *zip(placed, [*gaps, *given.defaults], strict=True),
            *zip(given.kwonlyargs, given.kw_defaults, strict=True),
        ]
        return tuple(self._parameter(node, default) for node, default in pairs)

    def _parameter(self, node: ast.arg, default: ast.expr | None) -> Parameter:
        value = None if default is None else self._number(default)
        annotated = _annotated(node)
        if annotated is None and value is not None:
            annotated = _TYPES[type(value).__name__]
        return Parameter(node.arg, annotated, value, node)

    def _number(self, node: ast.expr) -> float | int | bool:
        try:
            value = ast.literal_eval(node)
        except ValueError:
            value = self.visible(node.id) if isinstance(node, ast.Name) else None
        if type(value) not in (bool, int, float):
            raise self.error(Refused(node, "a default is a number", "as in window: int = 256"))
        number: float | int | bool = value
        return number


def _annotated(node: ast.arg) -> Type | None:
    annotation = node.annotation
    if isinstance(annotation, ast.Constant):
        return _TYPES.get(str(annotation.value))
    return _TYPES.get(annotation.id) if isinstance(annotation, ast.Name) else None


def read_function(function: object) -> PythonFunction:
    """Read the source of a function or a lambda."""
    if not isinstance(function, FunctionType):
        raise Untranslatable(
            f"{function!r} is not a Python function: nothing says what it computes",
            "pass a function that `def` has made, or a lambda",
        )
    name = function.__name__
    lines = _source(function)
    try:
        tree = parse_module("".join(lines))
    except (SyntaxError, ValueError) as error:
        raise Untranslatable(f"{_file(function)}: {error}", "import the file anew") from None
    node = _find(function, tree)
    if isinstance(node, ast.Lambda):
        returned = ast.copy_location(ast.Return(node.body), node.body)
        statements: list[ast.stmt] = [returned]
    else:
        has_docstring = ast.get_docstring(node, clean=False) is not None
        statements = node.body[1:] if has_docstring else node.body
    source_function = PythonFunction(
        name, _file(function), lines, node.args, statements, lambda seen: _visible(function, seen)
    )
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    if decorators:
        raise source_function.error(
            Refused(decorators[0], "a decorator may change what it computes", "leave it out")
        )
    return source_function


def _file(function: FunctionType) -> str:
    return function.__code__.co_filename


def _source(function: FunctionType) -> list[str]:
    """Return the lines of the whole file, or of the notebook's cell."""
    linecache.checkcache(_file(function))
    lines = linecache.getlines(_file(function), function.__globals__)
    if not lines:
        raise Untranslatable(
            f"the source of {function.__name__} cannot be read: it was made in {_file(function)}",
            "define it in a file, not at a prompt or by exec; or pass C++ as text=",
        )
    return lines


def _find(function: FunctionType, tree: ast.Module) -> ast.FunctionDef | ast.Lambda:
    code = function.__code__
    functions = [
        node
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.Lambda))
        and code.co_firstlineno == _first_line(node)
        and (code.co_name == getattr(node, "name", "<lambda>"))
        and [*_arguments(node)] == inspect.getfullargspec(function).args + _keywords(function)
    ]
    if len(functions) == 1:
        return functions[0]
    where = f"{_file(function)}:{code.co_firstlineno}"
    if functions:
        raise Untranslatable(
            f"{where}: {len(functions)} functions of these arguments stand in this line",
            "give each a line of its own",
        )
    raise Untranslatable(
        f"{where}: {function.__name__} does not stand there any more",
        "the file was changed after it was imported: import it anew",
    )


def _first_line(node: ast.FunctionDef | ast.Lambda) -> int:
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _arguments(node: ast.FunctionDef | ast.Lambda) -> Iterator[str]:
    given = node.args
    yield from (
        posonlyarg.arg for posonlyarg in (*given.posonlyargs, *given.args, *given.kwonlyargs)
    )


def _keywords(function: FunctionType) -> list[str]:
    return inspect.getfullargspec(function).kwonlyargs


_NOTHING = object()


def _visible(function: FunctionType, name: str) -> Any:
    """Return the value of a name in the function's scope; None if it has none.

    A dotted name such as `math.pi` is looked up in the module.
    """
    first, *rest = name.split(".")
    inner = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    value: Any = None
    if first in inner:
        try:
            value = inner[first].cell_contents
        except ValueError:  # not assigned yet
            return None
    else:
        value = function.__globals__.get(first, getattr(builtins, first, None))
    for part in rest:
        value = getattr(value, part, None) if isinstance(value, ModuleType) else None
    return value
