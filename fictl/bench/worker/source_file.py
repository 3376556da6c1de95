"""Launchers of one .cu file without a project: the command line replaces the trace."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fictl.case.subject import Call, Subject
from fictl.dtype import parse_dtype
from fictl.errors import InvalidValue, UsageError, unreadable
from fictl.op.notebook.inline import load_inline
from fictl.op.notebook.launchers import Launcher, chosen
from fictl.project.cpp_source import CppSource
from fictl.trace import Case, Scalar, Tensor, TraceTemplate, Var
from fictl.user_file import read_text

_COMMENT = re.compile(r"^[ \t]*//[ \t]*bench:[ \t]*(.+)$", re.MULTILINE)
_TENSOR = re.compile(r"(?P<shape>[0-9]{1,12}(x[0-9]{1,12}){0,15})(:(?P<dtype>\w+))?")
_AS_IN = "as in x=4096x4096:bfloat16 for a tensor, factor=2.0 for a scalar"
_UNCHECKED = "there is no reference: not checked"
_WRITTEN = "out"


@dataclass(frozen=True)
class _Shaped:
    shape: tuple[int, ...]
    dtype: str

    @classmethod
    def parse(cls, text: str) -> _Shaped:
        """Parse `4096x4096:bfloat16`; the default dtype is float32."""
        match = _TENSOR.fullmatch(text)
        if not match:
            raise InvalidValue(f"{text!r} is not a tensor", _AS_IN)
        shape = tuple(int(size) for size in match["shape"].split("x"))
        return cls(shape, parse_dtype(match["dtype"] or "float32").name)


def assignments(words: Iterable[str]) -> dict[str, str]:
    """Parse words of the form `name=value`."""
    values = {}
    for word in words:
        name, _, value = word.partition("=")
        if not (name.isidentifier() and value):
            raise InvalidValue(f"{word!r} gives nothing a value", _AS_IN)
        values[name] = value
    return values


def source_subjects(path: Path, values: Mapping[str, str]) -> list[tuple[Subject, Case]]:
    """Build the file and return every launcher; `values` override its `// bench:` comment."""
    try:
        text = read_text(path)
    except OSError as error:
        raise unreadable(path, error) from error
    own = assignments(word for line in _COMMENT.findall(text) for word in line.split())
    launchers = chosen(CppSource(path).code, ())
    _refuse_strange(path, launchers, values)
    subjects = [_subject(path, launcher, {**own, **values}) for launcher in launchers]
    module = load_inline(re.sub(r"\W", "_", path.stem), cuda=text)
    return [(subject.bound_to(module), subject.case) for subject in subjects]


@dataclass(frozen=True)
class _Unbuilt:
    file: str
    launcher: Launcher
    template: TraceTemplate
    case: Case

    def bound_to(self, module: Any) -> Subject:
        function = getattr(module, self.launcher.name)
        names = [name for _, name in self.launcher.parameters]

        def bind(inputs: Mapping[str, Any]) -> tuple[Call, Call]:
            arguments = [inputs[name] for name in names]
            return (lambda: None), (lambda: function(*arguments))

        written = tuple(self.template.outputs)
        reason = _UNCHECKED if written else f"{_UNCHECKED}, nor is there a View {_WRITTEN}…"
        return Subject(
            self.file,
            self.launcher.name,
            self.template,
            bind,
            frozenset(names),
            written,
            reason=reason,
        )


def _refuse_strange(path: Path, launchers: Sequence[Launcher], values: Mapping[str, str]) -> None:
    strange = sorted(
        {*values} - {name for launcher in launchers for _, name in launcher.parameters}
    )
    if strange:
        raise UsageError(
            f"no launcher of {path.name} has a parameter {', '.join(strange)}",
            "; ".join(f"{launcher.name}({launcher.declared})" for launcher in launchers),
        )


def _subject(path: Path, launcher: Launcher, values: Mapping[str, str]) -> _Unbuilt:
    missing = [name for _, name in launcher.parameters if name not in values]
    if missing:
        raise UsageError(
            f"{path.name}: nothing says what {', '.join(missing)} of {launcher.name} is",
            "--tensor x=4096x4096:bfloat16 --scalar factor=2.0, or a comment in the file: "
            "// bench: x=4096x4096:bfloat16 factor=2.0",
        )
    shaped = {name: _Shaped.parse(values[name]) for name in launcher.views}
    axes, sizes = _axes(shaped.values())
    tensors = {name: Tensor(axes[tensor.shape], tensor.dtype) for name, tensor in shaped.items()}
    written = {name for name in tensors if name.startswith(_WRITTEN)}
    template = TraceTemplate(
        axes={axis: Var("of a tensor") for axis in sizes},
        inputs={
            name: tensors[name] if name in tensors else _scalar(values[name])
            for _, name in launcher.parameters
            if name not in written
        },
        outputs={name: tensor for name, tensor in tensors.items() if name in written},
        reference=_no_reference,
    )
    dtype = next(iter(shaped.values())).dtype
    return _Unbuilt(path.name, launcher, template, Case(launcher.name, sizes, dtype))


def _axes(
    shaped: Iterable[_Shaped],
) -> tuple[dict[tuple[int, ...], tuple[str, ...]], dict[str, int]]:
    """Name the axes; tensors of one shape share them, so that a case's name has each once."""
    axes: dict[tuple[int, ...], tuple[str, ...]] = {}
    sizes: dict[str, int] = {}
    for shape in dict.fromkeys(tensor.shape for tensor in shaped):
        axes[shape] = tuple(f"n{len(sizes) + position}" for position in range(len(shape)))
        sizes |= dict(zip(axes[shape], shape, strict=True))
    return axes, sizes


def _scalar(text: str) -> Scalar:
    try:
        value = ast.literal_eval({"true": "True", "false": "False"}.get(text, text))
    except (SyntaxError, ValueError):
        value = None
    kinds = {bool: "bool", int: "int64", float: "float64"}
    if type(value) not in kinds:
        raise InvalidValue(f"{text!r} is not a number", _AS_IN)
    return Scalar(kinds[type(value)], value)


def _no_reference(**_inputs: Any) -> Any:
    raise UsageError(_UNCHECKED)
