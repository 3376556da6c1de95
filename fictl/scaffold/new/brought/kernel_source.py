"""A kernel, or a host function that launches one, in a file of the user's: what it takes."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path

from fictl.dtype import DTYPES, DType
from fictl.errors import MissingFile, UsageError
from fictl.project.cpp_source import CppSource
from fictl.scaffold.new.brought.cpp_function import CppFunction, functions, kernels, split
from fictl.user_file import read_text

FORM = "write FILE.cu:ENTRY, as in --kernel my.cu:MyKernel or --kernel my.cu:MyKernel<T,256>"
_ENTRY = re.compile(r"\s*(?P<name>(?:\w+::)*\w+)\s*(?:<(?P<arguments>.*)>)?\s*")
_PARAMETER = re.compile(r"(?P<type>.*?[\s*&])(?P<name>\w+)\s*(?P<array>\[[^\]]*\])?")
_RESTRICT = re.compile(r"\b(?:__restrict__|__restrict|__grid_constant__)\b")
_FOREIGN = ("torch/", "ATen/", "c10/", "pybind11/", "tvm/", "dlpack/", "binding/", "Python.h")
_TENSOR = re.compile(r"\b(?:torch|at)::Tensor\b|\bTensorView\b")
_CPP = {dtype.cpp: dtype for dtype in DTYPES.values()} | {
    "half": DTYPES["float16"],
    "nv_bfloat16": DTYPES["bfloat16"],
    "int": DTYPES["int32"],
    "long long": DTYPES["int64"],
    "long": DTYPES["int64"],
    "signed char": DTYPES["int8"],
    "unsigned char": DTYPES["uint8"],
}
INTEGERS = (
    "int",
    "int32_t",
    "int64_t",
    "long",
    "long long",
    "size_t",
    "unsigned",
    "unsigned int",
    "uint32_t",
    "uint64_t",
    "unsigned long long",
    "std::size_t",
    "std::int64_t",
    "std::int32_t",
)
FLOATS = ("float", "double")


@dataclass(frozen=True)
class KernelParameter:
    """`type` has no const, pointer or reference; `role` is pointer, float, int, bool or stream."""

    name: str
    type: str
    role: str
    is_const: bool = False

    @property
    def dtype(self) -> DType | None:
        """None where the template decides."""
        return _CPP.get(self.type)


@dataclass(frozen=True)
class KernelSource:
    """`arguments` are the template's, with T for the element type; `element` is that T's name."""

    path: Path
    function: CppFunction
    arguments: tuple[str, ...]
    element: str
    parameters: tuple[KernelParameter, ...]

    @cached_property
    def text(self) -> str:
        return read_text(self.path)

    @property
    def at(self) -> str:
        return f"{self.path}:{self.function.line}: {self.function.name}"

    @property
    def given(self) -> dict[str, str]:
        """The template's parameters, and what they are."""
        template = self.function.template
        return {p.name: p.default for p in template} | {
            p.name: argument for p, argument in zip(template, self.arguments, strict=False)
        }

    def of(self, role: str) -> list[KernelParameter]:
        return [parameter for parameter in self.parameters if parameter.role == role]


def read_kernel(text: str) -> KernelSource:
    file, _, rest = text.partition(".cu")
    suffix, colon, entry = rest.partition(":")
    path, named = Path(f"{file}.cu{suffix}"), _ENTRY.fullmatch(entry)
    if ".cu" not in text or not colon or named is None:
        raise UsageError(f"{text!r} names no function of a CUDA file", FORM)
    if not os.path.isfile(path):
        raise MissingFile(f"there is no file {path}", FORM)
    source = CppSource(path)
    function = _find(source, named["name"])
    _refuse_foreign(source, function)
    arguments, element = _arguments(path, function, named["arguments"])
    given = {p.name: a for p, a in zip(function.template, arguments, strict=False)}
    parameters = tuple(_parameter(path, function, p, given, element) for p in function.parameters)
    kernel = KernelSource(path, function, arguments, element, parameters)
    _check(kernel)
    return kernel


def _find(source: CppSource, entry: str) -> CppFunction:
    name = entry.rpartition("::")[2]
    matching = [
        f for f in functions(source.code, name) if f"::{f.scope}{name}".endswith(f"::{entry}")
    ]
    there = kernels(source.code)
    if not matching:
        close = get_close_matches(name, there, n=1)
        meant = f"did you mean {close[0]!r}? " if close else ""
        raise UsageError(
            f"{source.path} defines no function {entry}",
            f"{meant}its kernels are {', '.join(there) or 'none'}",
        )
    where = f"{source.path}:{matching[0].line}: {name}"
    if len(matching) > 1:
        lines = ", ".join(str(item.line) for item in matching)
        raise UsageError(
            f"{source.path} defines {entry} {len(matching)} times, in lines {lines}",
            "give the one that is meant a name of its own",
        )
    if _TENSOR.search(", ".join(matching[0].parameters) + matching[0].result):
        raise UsageError(
            f"{where} takes tensors of a framework",
            f"point --kernel at a kernel that takes pointers: {', '.join(there) or 'there is none'}"
            "; in a file that includes no torch",
        )
    if not matching[0].at_namespace_level:
        raise UsageError(f"{where} is inside a class or a function", "move it to a namespace")
    return matching[0]


def _refuse_foreign(source: CppSource, function: CppFunction) -> None:
    """The file becomes a header of the library, which has raw pointers only."""
    for include in source.includes:
        place = f"{source.path}:{include.line}: #include {include.operand}"
        if include.name.startswith(_FOREIGN):
            raise UsageError(
                f"{place}: an op's header has no framework in it",
                f"move {function.name} and what it calls to a file without that line",
            )
        if include.operand.startswith('"') and os.path.isfile(source.path.parent / include.name):
            raise UsageError(
                f"{place}: that file is not brought along",
                "paste it in, or put it into kernels/include and name it <project/file.cuh>",
            )
    main = next(functions(source.code, "main"), None)
    if main is not None:
        raise UsageError(
            f"{source.path}:{main.line}: a program's main", "leave it out of the kernel's file"
        )


def _arguments(path: Path, function: CppFunction, text: str | None) -> tuple[tuple[str, ...], str]:
    """The template's arguments, and the name of the type parameter that dtypes are tried for."""
    given = split(text) if text else []
    arguments: list[str] = []
    element = ""
    for number, parameter in enumerate(function.template):
        argument = given[number] if number < len(given) else parameter.default
        free = parameter.is_type and not element and argument in ("", "T", parameter.name)
        if free:
            element, argument = parameter.name, "T"
        if not argument:
            raise UsageError(
                f"{path}:{function.line}: nothing says the {parameter.name} of "
                f"template <{', '.join(p.name for p in function.template)}>",
                f"write it: --kernel '{path.name}:{function.name}<T,…>'",
            )
        arguments.append(argument)
    # Defaults at the end need not be written.
    while (
        arguments
        and len(arguments) > len(given)
        and function.template[len(arguments) - 1].default == arguments[-1]
    ):
        arguments.pop()
    return tuple(arguments), element


def _parameter(
    path: Path, function: CppFunction, text: str, given: dict[str, str], element: str
) -> KernelParameter:
    plain = _RESTRICT.sub(" ", text.partition("=")[0]).strip()
    match = _PARAMETER.fullmatch(plain)
    if match is None:
        raise UsageError(f"{path}:{function.line}: the parameter {text!r} has no name", "name it")
    stars = match["type"].count("*") + bool(match["array"])
    before, _, _ = match["type"].partition("*")
    is_const = bool(re.search(r"\bconst\b", before))
    kind = " ".join(re.sub(r"\bconst\b|[*&]", " ", match["type"]).split())
    kind = kind if kind == element else given.get(kind, kind)
    role = _role(kind, stars, element)
    if not role or ("&" in match["type"] and not is_const):
        raise UsageError(
            f"{path}:{function.line}: {function.name} takes {text!r}, which an op has no value for",
            "pointers to elements, numbers and a cudaStream_t can be passed",
        )
    return KernelParameter(match["name"], kind, role, is_const)


def _role(kind: str, stars: int, element: str) -> str:
    if stars == 1 and (kind == element or kind in _CPP):
        return "pointer"
    if stars:
        return ""
    if kind == "cudaStream_t":
        return "stream"
    if kind in FLOATS or kind == element or kind in ("half", "__half", "__nv_bfloat16"):
        return "float"
    return "int" if kind in INTEGERS else "bool" if kind == "bool" else ""


def _check(source: KernelSource) -> None:
    function = source.function
    if not source.of("pointer"):
        raise UsageError(f"{source.at} takes no pointer", "an op has a tensor at least")
    if function.is_global:
        return
    if function.result not in ("void", "cudaError_t"):
        raise UsageError(
            f"{source.at} returns {function.result}", "let it return void or cudaError_t"
        )
    if not source.of("stream"):
        raise UsageError(
            f"{source.at} takes no cudaStream_t, so it runs on a stream of its own",
            "give it one, and launch on it; or point --kernel at the kernel",
        )


def listed(parameters: Sequence[KernelParameter]) -> str:
    return ", ".join(parameter.name for parameter in parameters) or "none"
