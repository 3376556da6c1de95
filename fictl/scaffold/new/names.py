"""Names that will stand in Python, in C++ and on a disk: which can, and what to take instead."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable

from fictl.errors import UsageError, shown

_CPP_KEYWORDS = frozenset(
    (
        "alignas",
        "alignof",
        "and",
        "and_eq",
        "asm",
        "auto",
        "bitand",
        "bitor",
        "bool",
        "break",
        "case",
        "catch",
        "char",
        "char8_t",
        "char16_t",
        "char32_t",
        "class",
        "compl",
        "concept",
        "const",
        "consteval",
        "constexpr",
        "constinit",
        "const_cast",
        "continue",
        "co_await",
        "co_return",
        "co_yield",
        "decltype",
        "default",
        "delete",
        "do",
        "double",
        "dynamic_cast",
        "else",
        "enum",
        "explicit",
        "export",
        "extern",
        "false",
        "float",
        "for",
        "friend",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "mutable",
        "namespace",
        "new",
        "noexcept",
        "not",
        "not_eq",
        "nullptr",
        "operator",
        "or",
        "or_eq",
        "private",
        "protected",
        "public",
        "register",
        "reinterpret_cast",
        "requires",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "static_assert",
        "static_cast",
        "struct",
        "switch",
        "template",
        "this",
        "thread_local",
        "throw",
        "true",
        "try",
        "typedef",
        "typeid",
        "typename",
        "union",
        "unsigned",
        "using",
        "virtual",
        "void",
        "volatile",
        "wchar_t",
        "while",
        "xor",
        "xor_eq",
    )
)
_CUDA_NAMES = frozenset(
    (
        "threadIdx",
        "blockIdx",
        "blockDim",
        "gridDim",
        "warpSize",
        "dim3",
        "half",
        "half2",
        "nv_bfloat16",
        "__half",
        "clock",
        "printf",
        "char2",
        "short2",
        "int2",
        "int3",
        "int4",
        "uint2",
        "uint3",
        "uint4",
        "float1",
        "float2",
        "float3",
        "float4",
        "double2",
        "double4",
        "long2",
        "max",
        "min",
        "abs",
        "exp",
        "exp2",
        "log",
        "log2",
        "sqrt",
        "rsqrt",
        "sin",
        "cos",
        "tan",
        "tanh",
        "erf",
        "erfc",
        "pow",
        "floor",
        "ceil",
        "round",
        "trunc",
        "fma",
        "fmin",
        "fmax",
        "isnan",
        "isinf",
        "signbit",
        "malloc",
        "free",
        "memcpy",
        "memset",
        "assert",
        "main",
        "std",
        "stdin",
        "stdout",
        "stderr",
        "errno",
        "NULL",
        "EOF",
        "nan",
        "inf",
        "infinity",
        "NAN",
        "INFINITY",
        "isfinite",
        "linux",
        "unix",
        "atan2",
        "fmod",
        "cbrt",
        "hypot",
        "ldexp",
        "rint",
        "copysign",
        "exp10",
        "expm1",
        "log10",
        "log1p",
        "signal",
        "time",
        "rand",
        "exit",
        "abort",
    )
)
# `input` is what torch itself calls a tensor.
_BUILTINS = frozenset(dir(builtins)) - {"input"}
# `test_<name>.py` and what tools add to it are names of files, which have 255 bytes.
_LONGEST = 64
# What the generated files use for something else.
_TAKEN = frozenset(
    (
        "kernel",
        "op",
        "module",
        "torch",
        "launch",
        "device",
        "fictl",
        "binding",
        "self",
    )
)
_TAKEN_PARAMETERS = frozenset(
    (
        "torch",
        "launch",
        "stream",
        "pdl",
        "T",
        "N",
        "config",
        "shape",
        "rows",
        "kernel",
        "self",
        "backend",
        "tactic",
        "enable_pdl",
        "plan",
        "workspace",
        "sizes",
        "columns",
        "item_count",
        "row",
        "col",
        "cols",
        "left",
        "block",
        "index",
        "i",
        "j",
        "at",
        "to",
        "vecs",
        "vecs_per_row",
        "threads",
        "pointers_aligned",
        "pitches_aligned",
        "args",
        "storage",
        "size",
        "value",
        "op",
        "result",
        "results",
        "pieces",
        "piece",
        "stage",
        "pass_",
        "lanes",
        "aligned",
        "over_block",
        "status",
    )
)
_RESERVED_FAMILIES = frozenset(
    (
        "ops",
        "include",
        "binding",
        "cmake",
    )
)
_WORDS = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+")
_SNAKE = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")


def check_op(name: str, others: Iterable[str] = ()) -> str:
    """A new op's name. `others` are the ops that the project has."""
    _check(name, "an op", _TAKEN)
    if name != name.lower():
        raise UsageError(
            f"{name!r} cannot name an op: its files and functions are in lower case",
            f"try {snake(name)!r}",
        )
    for other in others:
        if other == name:
            raise UsageError(
                f"there is an op {name!r} already",
                f"fictl where {name} shows it; to write it anew, --force; else {f'{name}_2'!r}",
            )
        if title(other) == title(name) or other.lower() == name:
            raise UsageError(
                f"{name!r} and the op {other!r} differ in case or '_' only: both are {title(name)}",
                "a name that is told apart on every disk and in C++",
            )
    return name


def check_family(name: str) -> str:
    _check(name, "a family", frozenset())
    if name in _RESERVED_FAMILIES or name != name.lower():
        raise UsageError(
            f"{name!r} cannot name a family: "
            + ("it means something else" if name in _RESERVED_FAMILIES else "use lower case"),
            f"try {f'my_{name.lower()}'!r}",
        )
    return name


def check_project(name: str) -> str:
    _check(name, "a project", _TAKEN | {"test", "tests", "kernels"})
    return name


def check_parameter(name: str) -> str:
    """A tensor or a scalar."""
    _check(name, "an argument", _TAKEN_PARAMETERS)
    return name


def check_axis(name: str) -> str:
    """It stands in Python alone."""
    problem = _problem_in_python(name)
    if problem:
        raise UsageError(
            f"'{shown(name)}' cannot name an axis: {problem}", f"try {_instead(name, 'axis')!r}"
        )
    return name


def title(name: str) -> str:
    """`RopeScale` of rope_scale, for C++ functions and classes."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def snake(name: str) -> str:
    """`rope_scale` of RopeScale or rope-scale; what is written so already stays as it is."""
    if _SNAKE.fullmatch(name):
        return name
    return "_".join(word.lower() for word in _WORDS.findall(name))


def _check(name: str, what: str, taken: frozenset[str]) -> None:
    problem = _problem(name, taken)
    if problem:
        suffix = "in" if taken is _TAKEN_PARAMETERS else "op"
        raise UsageError(
            f"'{shown(name)}' cannot name {what}: {problem}", f"try {_instead(name, suffix)!r}"
        )


def _problem_in_python(name: str) -> str:
    if not name.isascii() or not name.isidentifier():
        return "it is not an identifier of ASCII letters, digits and '_'" if name else "it is empty"
    if len(name) > _LONGEST:
        return f"it has {len(name)} letters, and {_LONGEST} are the most"
    if keyword.iskeyword(name) or keyword.issoftkeyword(name):
        return "Python has a keyword of that name"
    return "Python has something of that name" if name in _BUILTINS else ""


def _problem(name: str, taken: frozenset[str]) -> str:
    problem = _problem_in_python(name)
    if problem:
        return problem
    if name in _CPP_KEYWORDS:
        return "C++ has a keyword of that name"
    if name.startswith("_") or "__" in name:
        return "C++ keeps names with a leading or a double '_' to itself"
    if name in _CUDA_NAMES:
        return "CUDA or C has something of that name"
    return "generated files use it for something else" if name in taken else ""


def _instead(name: str, suffix: str = "op") -> str:
    words = snake(re.sub(r"[^A-Za-z0-9_]", "_", name))[: _LONGEST // 2].strip("_") or "my_op"
    start = words if not words[0].isdigit() else f"{suffix}_{words}"
    return f"{start}_{suffix}" if _problem(start, _TAKEN | _TAKEN_PARAMETERS) else start
