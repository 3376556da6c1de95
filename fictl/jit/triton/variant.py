"""Variant: one set of types and constants that a Triton kernel is compiled for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from fictl.errors import UsageError

# Triton's name of a type -> C++'s.
CPP = {
    "i1": "bool",
    "i8": "int8_t",
    "i16": "int16_t",
    "i32": "int32_t",
    "i64": "int64_t",
    "u8": "uint8_t",
    "u16": "uint16_t",
    "u32": "uint32_t",
    "u64": "uint64_t",
    "fp32": "float",
    "fp64": "double",
}
CPP_POINTED = {
    **CPP,
    "fp16": "__half",
    "bf16": "__nv_bfloat16",
    "fp8e4nv": "__nv_fp8_e4m3",
    "fp8e5": "__nv_fp8_e5m2",
}

ASSUMED = ":16"


@dataclass(frozen=True)
class Variant:
    """Types and constants of a kernel; `constants` have the type `constexpr`. `assumed`: the
    indices of arguments assumed to be multiples of 16 (pointers: in bytes).
    """

    function: Any
    types: Mapping[str, str]
    constants: Mapping[str, Any]
    options: Mapping[str, Any]
    assumed: tuple[int, ...]

    @property
    def name(self) -> str:
        return str(self.function.__name__)

    @property
    def arguments(self) -> dict[str, str]:
        """Return the arguments of a launch, with their C++ types."""
        return {name: cpp_type(text) for name, text in self.types.items() if text != "constexpr"}

    @property
    def signature(self) -> tuple[str, ...]:
        """Return name and argument types, which distinguish it from other variants."""
        return self.name, *self.arguments.values()

    @property
    def general(self) -> Variant:
        """Return the same variant without assumptions."""
        return replace(self, assumed=())


def read_variant(function: Any, given: Mapping[str, Any]) -> Variant:
    """Read one item of variants(): a kernel, and by name its types, constants and options."""
    types, constants, assumed = {}, {}, []
    for at, parameter in enumerate(function.params):
        if parameter.name not in given:
            raise UsageError(f"variants() gives {function.__name__} no {parameter.name}")
        value = given[parameter.name]
        if parameter.is_constexpr:
            constants[parameter.name] = value
            types[parameter.name] = "constexpr"
            continue
        types[parameter.name] = str(value).removesuffix(ASSUMED)
        cpp_type(types[parameter.name])
        if str(value).endswith(ASSUMED):
            _check_assumed(types[parameter.name])
            assumed.append(at)
    options = {name: value for name, value in given.items() if name not in types}
    return Variant(function, types, constants, options, tuple(assumed))


def _check_assumed(text: str) -> None:
    if not text.startswith(("*", "i", "u")) or text == "i1":
        raise UsageError(f"{text!r} cannot be a multiple of 16: only pointers and integers can")


def cpp_type(text: str) -> str:
    known = CPP_POINTED if text.startswith("*") else CPP
    name = text.removeprefix("*")
    if name not in known:
        raise UsageError(
            f"{text!r} is not the type of an argument",
            f"one of {', '.join(known)}; *fp16 is a pointer",
        )
    return f"const {known[name]}*" if text.startswith("*") else known[name]
