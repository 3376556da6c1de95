"""Element types: each has an entry here and an `Element` in kernels/include/fictl/device."""

from __future__ import annotations

from dataclasses import dataclass

from fictl.errors import InvalidValue, WrongType

# DLPack type codes (DLDataTypeCode).
_INT, _UINT, _FLOAT, _BFLOAT, _BOOL = 0, 1, 2, 4, 6
_E4M3FN, _E5M2, _E8M0FNU, _E2M1FN = 10, 12, 14, 17


@dataclass(frozen=True)
class DType:
    """A dtype and all its names. `torch` is also its full name everywhere in fictl."""

    name: str
    short: str
    code: int
    bits: int
    cpp: str
    lanes: int = 1

    @property
    def bytes(self) -> int:
        return self.bits * self.lanes // 8


DTYPES = {
    dtype.name: dtype
    for dtype in (
        DType("float16", "f16", _FLOAT, 16, "__half"),
        DType("bfloat16", "bf16", _BFLOAT, 16, "__nv_bfloat16"),
        DType("float32", "f32", _FLOAT, 32, "float"),
        DType("float64", "f64", _FLOAT, 64, "double"),
        DType("float8_e4m3fn", "e4m3", _E4M3FN, 8, "__nv_fp8_e4m3"),
        DType("float8_e5m2", "e5m2", _E5M2, 8, "__nv_fp8_e5m2"),
        DType("float8_e8m0fnu", "e8m0", _E8M0FNU, 8, "__nv_fp8_e8m0"),
        DType("float4_e2m1fn_x2", "e2m1", _E2M1FN, 4, "__nv_fp4x2_e2m1", lanes=2),
        DType("int8", "i8", _INT, 8, "int8_t"),
        DType("uint8", "u8", _UINT, 8, "uint8_t"),
        DType("int32", "i32", _INT, 32, "int32_t"),
        DType("int64", "i64", _INT, 64, "int64_t"),
        DType("bool", "b8", _BOOL, 8, "bool"),
    )
}
_BY_NAME = {name: dtype for dtype in DTYPES.values() for name in (dtype.name, dtype.short)}


def parse_dtype(name: str) -> DType:
    """Parse a full or short name, with or without `torch.`."""
    if not isinstance(name, str):
        raise WrongType(f"dtype {name!r} is a {type(name).__name__}", "a text, as in 'bfloat16'")
    try:
        return _BY_NAME[name.strip().removeprefix("torch.").lower()]
    except KeyError:
        known = ", ".join(f"{dtype.short} ({dtype.name})" for dtype in DTYPES.values())
        raise InvalidValue(f"unknown dtype {name!r}", f"one of {known}") from None
