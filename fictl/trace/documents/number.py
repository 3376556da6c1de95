"""Values that a scalar of each dtype can have, checked without torch."""

from __future__ import annotations

import math

_BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
# Formats without an infinity, and the one that has no NaN either.
_FINITE = {"float8_e4m3fn", "float8_e8m0fnu", "float4_e2m1", "float4_e2m1fn_x2"}
_NEVER_NAN = {"float4_e2m1", "float4_e2m1fn_x2"}
# Smallest number that rounds to infinity, or is out of range.
_BEYOND = {
    "float64": 2**1024 - 2**970,
    "float32": 2**128 - 2**103,
    "bfloat16": 2**128 - 2**119,
    "float16": 65520,
    "float8_e5m2": 61440,
    "float8_e4m3fn": 464,
    "float8_e8m0fnu": 2**128,
    "float4_e2m1": 7,
    "float4_e2m1fn_x2": 7,
}


def problem(value: float, dtype: str) -> str:
    """Explain why a scalar of this dtype cannot be `value`; '' if it can."""
    if dtype == "bool" or isinstance(value, bool):
        return (
            ""
            if dtype == "bool" and isinstance(value, bool)
            else f"{value!r} is not of dtype {dtype}"
        )
    if dtype in _BEYOND:
        return _of_float(value, dtype)
    if not isinstance(value, int):
        return f"{value!r} is not of dtype {dtype}"
    low, high = (0, 255) if dtype == "uint8" else _range(_BITS[dtype])
    return "" if low <= value <= high else f"{dtype} holds {low} to {high}, not {value}"


def _range(bits: int) -> tuple[int, int]:
    return -(1 << bits - 1), (1 << bits - 1) - 1


def _of_float(value: float, dtype: str) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        lacks = dtype in _NEVER_NAN if math.isnan(value) else dtype in _FINITE
        return f"{dtype} has no {value}" if lacks else ""
    if abs(value) >= _BEYOND[dtype]:
        return f"{dtype} is smaller than {value:.6g}" if isinstance(value, float) else _huge(dtype)
    return f"{dtype} is never negative" if dtype == "float8_e8m0fnu" and value < 0 else ""


def _huge(dtype: str) -> str:
    """Message about an integer that may have hundreds of digits."""
    return f"{dtype} holds no number that large"
