"""Parameters of a reference, from its annotations: axes, dtypes, numbers, defaults."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from fictl.scaffold.new.names import snake
from fictl.syntax import parse_expression

# Of jaxtyping. One that stands for several dtypes is the case's.
_DTYPES = {
    "Float": "",
    "Num": "",
    "Shaped": "",
    "Inexact": "",
    "Real": "",
    "Float16": "f16",
    "BFloat16": "bf16",
    "Float32": "f32",
    "Float64": "f64",
    "Int": "i64",
    "Integer": "i64",
    "Int8": "i8",
    "UInt8": "u8",
    "Int32": "i32",
    "Int64": "i64",
    "Bool": "b8",
}
_AXES = re.compile(r"[\w\s,.*#?=+/()-]+")
_NAME = re.compile(r"[A-Za-z_]\w*")
NUMBERS = ("float", "int", "bool")


@dataclass(frozen=True)
class ReferenceParameter:
    """`axes` as in --input, empty where nothing says them.

    `role` is `tensor`, `scalar`, `other` (it has a default that is not a number, and keeps it), or
    empty: a call will tell. `annotation` is how its author has it.
    """

    name: str
    role: str = ""
    axes: str = ""
    dtype: str = ""
    type: str = "float"
    default: str = ""
    annotation: str = ""

    @property
    def said(self) -> str:
        """Text of the parameter as --input or --scalar takes it."""
        if self.role == "scalar":
            return f"{self.name}:{self.type}" + (f"={self.default}" if self.default else "")
        return f"{self.name}:{self.axes}" + (f":{self.dtype}" if self.dtype else "")


def parameters(node: ast.FunctionDef) -> tuple[ReferenceParameter, ...]:
    given = node.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    bare = len(named) - len(given.kwonlyargs) - len(given.defaults)
    defaults = [*([None] * bare), *given.defaults, *given.kw_defaults]
    return tuple(_parameter(a, d) for a, d in zip(named, defaults, strict=True))


def results(node: ast.FunctionDef) -> tuple[ReferenceParameter, ...]:
    """Outputs by the return annotation; empty if it gives no axes."""
    parts = _parts(node.returns)
    names = _returned(node, len(parts)) if parts else ()
    tensors = [_tensor(name, part) for name, part in zip(names, parts, strict=True)]
    return tuple(item for item in tensors if item and item.axes) if all(tensors) else ()


def _parts(annotation: ast.expr | None) -> list[ast.expr]:
    """Parts of a tuple's annotation; an annotation of one tensor is its own part."""
    node = annotation
    if isinstance(node, ast.Subscript) and _last(node.value) in ("tuple", "Tuple"):
        node = node.slice
    if isinstance(node, ast.Tuple):
        return node.elts
    return [node] if node is not None else []


def output_names(node: ast.FunctionDef, count: int) -> tuple[str, ...]:
    return _returned(node, count)


def _returned(node: ast.FunctionDef, count: int) -> tuple[str, ...]:
    """`out`, or what `return y, lse` calls them where these are no parameters."""
    taken = {inner.arg for inner in ast.walk(node.args) if isinstance(inner, ast.arg)}
    last = node.body[-1]
    value = last.value if isinstance(last, ast.Return) else None
    if count == 1:
        return ("out" if "out" not in taken else "result",)
    elements = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
    names = [name for element in elements if (name := _called_on(element))]
    if len({*names} - taken) == count:
        return tuple(names)
    return tuple(f"out_{number}" for number in range(count))


def _called_on(node: ast.expr) -> str:
    """`idx` of idx.to(torch.int32), else empty."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
    return node.id if isinstance(node, ast.Name) else ""


def _parameter(argument: ast.arg, default: ast.expr | None) -> ReferenceParameter:
    name, annotation = argument.arg, argument.annotation
    shown = ast.unparse(annotation) if annotation else ""
    value = _number(default)
    tensor = _tensor(name, annotation)
    if tensor is not None:
        return tensor
    kind = _last(_unquoted(annotation))
    if kind in NUMBERS:
        return ReferenceParameter(
            name, "scalar", type=kind, default=str(value) if value is not None else ""
        )
    if value is not None:
        return ReferenceParameter(name, "scalar", type=type(value).__name__, default=str(value))
    if default is not None:
        return ReferenceParameter(name, "other", default=ast.unparse(default), annotation=shown)
    return ReferenceParameter(name, annotation=shown)


def _number(node: ast.expr | None) -> float | int | bool | None:
    try:
        value = ast.literal_eval(node) if node else None
    except ValueError:
        return None
    return value if isinstance(value, (float, int)) else None


def _tensor(name: str, annotation: ast.expr | None) -> ReferenceParameter | None:
    """None where it is not a tensor, or where it may be None."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        if not _looks_like_axes(annotation.value):
            return _tensor(name, _unquoted(annotation))
        return ReferenceParameter(name, "tensor", axes_of(annotation.value))
    if isinstance(annotation, ast.Subscript) and isinstance(annotation.slice, ast.Tuple):
        kind, last = _last(annotation.value), annotation.slice.elts[-1]
        known = kind in _DTYPES or kind == "Annotated"
        if known and isinstance(last, ast.Constant) and isinstance(last.value, str):
            return ReferenceParameter(name, "tensor", axes_of(last.value), _DTYPES.get(kind, ""))
    if _last(annotation) == "Tensor":
        return ReferenceParameter(name, "tensor")
    return None


def _looks_like_axes(text: str) -> bool:
    return (
        bool(_AXES.fullmatch(text))
        and text.strip() not in (*NUMBERS, "Tensor", "torch.Tensor", "None")
        and not text.strip().startswith("torch.")
    )


def _unquoted(node: ast.expr | None) -> ast.expr | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return parse_expression(node.value)
        except (SyntaxError, ValueError):
            return None
    return node


def _last(node: ast.expr | None) -> str:
    """`Tensor` of torch.Tensor."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def axes_of(text: str) -> str:
    """`n hidden` or `n,hidden` as --input has it; a number gets a name, `...` is the rows."""
    return ",".join(_axes(text))


def _axes(text: str) -> Iterator[str]:
    for token in filter(None, re.split(r"[,\s]+", text.strip())):
        word = token.lstrip("*#?")
        if word == "...":
            yield "rows"
        elif word.isdecimal():
            yield f"size_{word}={word}"
        elif "=" in word or _NAME.fullmatch(word):
            yield word
        else:
            yield f"{_axis_name(word)}={ast.unparse(ast.parse(word))}"


def _axis_name(text: str) -> str:
    """`hidden_over_2` of hidden//2."""
    words = {"//": "_over_", "/": "_over_", "*": "_times_", "+": "_plus_", "-": "_minus_"}
    for sign, word in words.items():
        text = text.replace(sign, word)
    return snake(re.sub(r"\W", "", text))
