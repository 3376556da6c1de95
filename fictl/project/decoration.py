"""Finds `@op(...)` on a definition and reads its arguments, which are literals."""

from __future__ import annotations

import ast
from pathlib import Path

from fictl.project.python_source import SourceError

FORM = '@op(archs=">=8.0", dtypes="f16 bf16", devices="cuda", mutates="out")'

# Argument -> default; None: required.
_DEFAULTS: dict[str, object] = {
    "archs": None,
    "dtypes": None,
    "mutates": None,
    "devices": "cuda",
    "uses": "",
    "settings": {},
    "backends": {},
}
# Arguments that are functions: not evaluated here.
CODE = ("check", "checks", "heuristic", "tactics", "backward")


def op_arguments(path: Path, node: ast.FunctionDef | ast.ClassDef) -> dict[str, object] | None:
    """Return the value of each argument of `@op`; None if `node` has no such decorator."""
    decorator = decorator_of(node)
    if decorator is None:
        return None
    if not isinstance(decorator, ast.Call) or decorator.args:
        raise SourceError(
            path, decorator.lineno, f"{node.name}: @op takes keyword arguments", f"write {FORM}"
        )
    keywords = [word for word in decorator.keywords if word.arg not in CODE]
    return _complete(path, node, [_argument(path, node.name, word) for word in keywords])


def decorator_of(node: ast.FunctionDef | ast.ClassDef) -> ast.expr | None:
    """Return the decorator `@op(…)` of a definition, or None."""
    return next((decorator for decorator in node.decorator_list if _name(decorator) == "op"), None)


def _name(decorator: ast.expr) -> str:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _argument(path: Path, op: str, word: ast.keyword) -> tuple[str, object]:
    try:
        value = ast.literal_eval(word.value)
    except ValueError:
        value = None
    if word.arg is None or value is None:
        raise SourceError(
            path,
            word.value.lineno,
            f"{op}: @op({ast.unparse(word)}) is not a literal",
            "write the value itself: @op is read without running the file",
        )
    if word.arg not in _DEFAULTS:
        raise SourceError(
            path,
            word.value.lineno,
            f"{op}: @op has no {word.arg!r}",
            f"it has {', '.join((*_DEFAULTS, *CODE))}",
        )
    expected = dict if isinstance(_DEFAULTS[word.arg], dict) else str
    if not isinstance(value, expected):
        raise SourceError(
            path, word.value.lineno, f"{op}: {word.arg}={value!r}", f"a {expected.__name__} literal"
        )
    return word.arg, value


def _complete(
    path: Path, node: ast.FunctionDef | ast.ClassDef, keywords: list[tuple[str, object]]
) -> dict[str, object]:
    arguments = {**_DEFAULTS, **dict(keywords)}
    if arguments["backends"]:  # Then archs is optional: the backends declare theirs.
        arguments["archs"] = arguments["archs"] or ""
    missing = [key for key, value in arguments.items() if value is None]
    if missing:
        raise SourceError(
            path, node.lineno, f"{node.name}: @op lacks {', '.join(missing)}", f"write {FORM}"
        )
    return arguments
