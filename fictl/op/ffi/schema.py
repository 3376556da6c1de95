"""Schema: a binding's function as torch must know it, read from its C++ definition."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fictl.errors import UsageError
from fictl.project.cpp_source import CppSignature, CppSource

_TORCH = {
    "View": "Tensor",
    "TensorView": "Tensor",
    "Tensor": "Tensor",
    "double": "float",
    "float": "float",
    "bool": "bool",
    "String": "str",
    "string": "str",
} | dict.fromkeys(("int", "int32_t", "int64_t", "uint32_t", "uint64_t", "size_t"), "SymInt")
# From a function's parameters, as named in op.py, selects the written ones.
Written = Callable[[Sequence[str]], Collection[str]]
_GENERIC = re.compile(r"(Optional|optional|Array)<(.+)>")
_ACCEPTED = (
    "a definition in that file such as `void f(View out, View input, double factor) {…}`; it "
    "takes View, TensorView, double, float, int64_t, int, bool, String, std::string, "
    "Array<int64_t>, Array<double>, and Optional<…> of them"
)


@dataclass(frozen=True)
class Parameter:
    """One parameter. `type` is torch's, as in `Tensor?`; only tensors are `written`."""

    name: str
    type: str
    written: bool = False

    @property
    def is_tensor(self) -> bool:
        return self.type.startswith("Tensor")

    @property
    def is_optional(self) -> bool:
        return self.type.endswith("?")


@dataclass(frozen=True)
class Schema:
    """Schema of one function. It may return a number if it has no tensors: torch never sees it."""

    parameters: tuple[Parameter, ...]

    @property
    def tensors(self) -> tuple[Parameter, ...]:
        return tuple(parameter for parameter in self.parameters if parameter.is_tensor)

    @property
    def inputs(self) -> tuple[Parameter, ...]:
        return tuple(parameter for parameter in self.tensors if not parameter.written)

    @property
    def on_host(self) -> frozenset[int]:
        """Positions of tensors that are on the host, wherever the kernel runs: `host_…` by name."""
        return frozenset(
            position
            for position, parameter in enumerate(self.parameters)
            if parameter.is_tensor and parameter.name.startswith("host_")
        )

    def text(self, name: str) -> str:
        """Spell it for torch.library: `scale(Tensor(a0!) out, Tensor input, float factor) -> ()`."""
        written = (
            f"Tensor(a{position}!){'?' * parameter.is_optional}"
            if parameter.written
            else parameter.type
            for position, parameter in enumerate(self.parameters)
        )
        words = zip(written, self.parameters, strict=True)
        return f"{name}({', '.join(f'{kind} {parameter.name}' for kind, parameter in words)}) -> ()"


def read_schema(sources: Iterable[Path], export: str, written: Written) -> Schema:
    """Read the schema of the function that one of `sources` exports. It writes the parameters that
    `written` selects, and its workspaces.
    """
    for source in map(CppSource, sources):
        if export in source.exports:
            return _schema(source, export, written)
    raise UsageError(f"no source exports {export!r}", f"torch.compile needs {_ACCEPTED}")


def _schema(source: CppSource, export: str, written: Written) -> Schema:
    signature = source.signature(export)
    if signature is None:
        raise _unreadable(source, source.exports[export], f"{export} cannot be read")
    mutates = written([_argument(name) for _, name in signature.parameters])
    schema = Schema(
        tuple(_parameter(source, signature, *pair, mutates) for pair in signature.parameters)
    )
    if schema.tensors and signature.result != "void":
        raise _unreadable(
            source, signature.line, f"{export} takes tensors and returns {signature.result}"
        )
    if schema.tensors and not any(parameter.written for parameter in schema.parameters):
        raise UsageError(
            f"{source.path}:{signature.line}: {export} writes none of its parameters "
            f"{', '.join(parameter.name for parameter in schema.tensors)}",
            "call what it writes as @op(mutates=…) of op.py calls it, or workspace…",
        )
    return schema


def _parameter(
    source: CppSource, signature: CppSignature, cpp_type: str, name: str, mutates: Collection[str]
) -> Parameter:
    kind = _torch_type(cpp_type)
    if kind is None:
        raise _unreadable(source, signature.line, f"'{name}' is a {cpp_type}")
    is_named = name in mutates or _argument(name) in mutates
    written = kind.startswith("Tensor") and bool(is_named or name.startswith("workspace"))
    return Parameter(name, kind, written)


def _argument(name: str) -> str:
    """Return the op.py argument of a name: cache for cache_1, as one argument may be a tuple."""
    return re.sub(r"_\d$", "", name)


def _torch_type(cpp_type: str) -> str | None:
    generic = _GENERIC.fullmatch(cpp_type)
    if generic is None:
        return _TORCH.get(cpp_type)
    inner = _torch_type(generic[2])
    if generic[1] != "Array":
        return f"{inner}?" if inner and not inner.endswith("?") else None
    return f"{inner}[]" if inner in ("SymInt", "float") else None


def _unreadable(source: CppSource, line: int, what: str) -> UsageError:
    return UsageError(f"{source.path}:{line}: {what}", f"torch.compile needs {_ACCEPTED}")
