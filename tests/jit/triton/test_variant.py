"""What variants() yields, read as types, constants and options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from fictl.errors import UsageError
from fictl.jit.triton.variant import cpp_type, read_variant


@dataclass(frozen=True)
class Parameter:
    name: str
    is_constexpr: bool = False


class Double:
    """What @triton.jit makes of `def double(out, x, n, block: tl.constexpr)`."""

    __name__ = "double"
    params = (Parameter("out"), Parameter("x"), Parameter("n"), Parameter("block", True))


GIVEN: dict[str, Any] = {
    "out": "*fp16:16",
    "x": "*fp16",
    "n": "i64:16",
    "block": 1024,
    "num_warps": 8,
}


def test_types_constants_options_and_assumptions_are_told_apart() -> None:
    variant = read_variant(Double(), GIVEN)
    assert variant.types == {"out": "*fp16", "x": "*fp16", "n": "i64", "block": "constexpr"}
    assert variant.constants == {"block": 1024}
    assert variant.options == {"num_warps": 8}
    assert variant.assumed == (0, 2)
    assert variant.general.assumed == ()


def test_a_launch_passes_all_but_constants() -> None:
    arguments = read_variant(Double(), GIVEN).arguments
    assert arguments == {"out": "const __half*", "x": "const __half*", "n": "int64_t"}


def test_variants_of_other_types_are_told_apart_and_of_other_constants_not() -> None:
    variant = read_variant(Double(), GIVEN)
    assert read_variant(Double(), {**GIVEN, "block": 2}).signature == variant.signature
    assert read_variant(Double(), {**GIVEN, "x": "*fp32"}).signature != variant.signature


@pytest.mark.parametrize("name", ["out", "n", "block"])
def test_a_parameter_that_is_left_out_is_named(name: str) -> None:
    given = {key: value for key, value in GIVEN.items() if key != name}
    with pytest.raises(UsageError, match=rf"gives double no {name}"):
        read_variant(Double(), given)


@pytest.mark.parametrize("text", ["fp16", "*fp17", "float", "**fp16", "", "16"])
def test_a_type_that_no_launcher_passes_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"is not the type of an argument"):
        read_variant(Double(), {**GIVEN, "n": text})


@pytest.mark.parametrize("text", ["fp32:16", "fp64:16", "i1:16"])
def test_what_has_no_multiples_cannot_be_assumed_to_be_one(text: str) -> None:
    with pytest.raises(UsageError, match="only pointers and integers"):
        read_variant(Double(), {**GIVEN, "n": text})


@pytest.mark.parametrize(
    ("text", "cpp"),
    [("fp32", "float"), ("i1", "bool"), ("u8", "uint8_t"), ("*bf16", "const __nv_bfloat16*")],
)
def test_c_plus_plus_has_a_type_for_each(text: str, cpp: str) -> None:
    assert cpp_type(text) == cpp
