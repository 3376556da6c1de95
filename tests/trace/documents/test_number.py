from __future__ import annotations

import math

import pytest

from fictl.trace.documents.number import problem
from fictl.trace.documents.tensor_spec import ELEMENT_TYPES, torch_dtype

_MANY_DIGITS = 10**400


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (127, "int8"),
        (-128, "int8"),
        (255, "uint8"),
        (2**63 - 1, "int64"),
        (True, "bool"),
        (1, "float16"),
        (65504.0, "float16"),
        (3.4028235e38, "float32"),
        (-3.38e38, "bfloat16"),
        (448, "float8_e4m3fn"),
        (57344.0, "float8_e5m2"),
        (6, "float4_e2m1"),
        (0.5, "float8_e8m0fnu"),
        (math.nan, "float32"),
        (math.inf, "float16"),
        (-math.inf, "bfloat16"),
        (1e308, "float64"),
        (math.nan, "float8_e4m3fn"),
        (math.inf, "float8_e5m2"),
        (1e-300, "float16"),
    ],
)
def test_what_a_dtype_holds(value: float, dtype: str) -> None:
    assert problem(value, dtype) == ""


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (300, "int8"),
        (-129, "int8"),
        (-1, "uint8"),
        (256, "uint8"),
        (2**63, "int64"),
        (2**80, "int32"),
        (1.0, "int32"),
        (math.nan, "int32"),
        (math.inf, "int64"),
        (True, "int32"),
        (True, "float32"),
        (False, "uint8"),
        (1, "bool"),
        (0.0, "bool"),
        (70000, "float16"),
        (1e39, "float32"),
        (-1e39, "bfloat16"),
        (500, "float8_e4m3fn"),
        (8.0, "float4_e2m1"),
        (math.inf, "float8_e4m3fn"),
        (math.nan, "float4_e2m1"),
        (-1.0, "float8_e8m0fnu"),
        (_MANY_DIGITS, "float64"),
        (_MANY_DIGITS, "int64"),
    ],
)
def test_what_it_does_not(value: float, dtype: str) -> None:
    assert problem(value, dtype)


@pytest.mark.parametrize("dtype", [d for d in ELEMENT_TYPES if "float4" not in d])
def test_the_ends_are_torchs(dtype: str) -> None:
    import torch

    kind = torch_dtype(dtype)
    if kind is torch.bool:
        return
    limits = torch.finfo(kind) if kind.is_floating_point else torch.iinfo(kind)
    assert problem(limits.max, dtype) == ""
    assert dtype == "float8_e8m0fnu" or problem(limits.min, dtype) == ""
    beyond = 2 * int(limits.max) if kind.is_floating_point else limits.max + 1
    assert problem(beyond, dtype)
