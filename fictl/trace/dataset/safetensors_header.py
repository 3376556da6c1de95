"""Reads the header of a safetensors file: which tensors it holds."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fictl.errors import UsageError, unreadable
from fictl.user_file import open_regular

_LARGEST_HEADER = 100_000_000  # The format's own limit.
_DTYPES = {
    "F64": ("float64", 64),
    "F32": ("float32", 32),
    "F16": ("float16", 16),
    "BF16": ("bfloat16", 16),
    "F8_E4M3": ("float8_e4m3fn", 8),
    "F8_E5M2": ("float8_e5m2", 8),
    "F8_E8M0": ("float8_e8m0fnu", 8),
    "F4": ("float4_e2m1", 4),
    "I64": ("int64", 64),
    "I32": ("int32", 32),
    "I16": ("int16", 16),
    "I8": ("int8", 8),
    "U8": ("uint8", 8),
    "BOOL": ("bool", 8),
}


@dataclass(frozen=True)
class TensorInfo:
    """`dtype` is named as in definitions, or as in the file if definitions have no such dtype."""

    dtype: str
    shape: tuple[int, ...]


def read_header(path: Path) -> dict[str, TensorInfo]:
    """Read dtype and shape of each tensor, by key; refuse a file that is cut off."""
    try:
        with open_regular(path) as file:
            length = int.from_bytes(file.read(8), "little")
            size = path.stat().st_size
            fits = size >= 8 and 2 <= length <= min(size - 8, _LARGEST_HEADER)
            text = file.read(length) if fits else b""
    except OSError as error:
        raise unreadable(path, error) from None
    if not fits:
        raise _wrong(path, f"{size} bytes, and a header that should have {length}")
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _wrong(path, f"a header that is not JSON: {error}") from None
    if not isinstance(header, dict):
        raise _wrong(path, "a header that is not a JSON object")
    tensors = {key: value for key, value in header.items() if key != "__metadata__"}
    return {key: _info(path, key, value, size - 8 - length) for key, value in tensors.items()}


def _info(path: Path, key: str, entry: Any, room: int) -> TensorInfo:
    try:
        shape, (start, end) = tuple(entry["shape"]), entry["data_offsets"]
        name, bits = _DTYPES.get(entry["dtype"], (str(entry["dtype"]), 0))
        whole = all(type(number) is int and number >= 0 for number in (*shape, start, end))
    except (TypeError, ValueError, LookupError):
        whole = False
    if not whole:
        raise _wrong(path, f"a tensor {key!r} without dtype, shape or offsets")
    if not start <= end <= room or (bits and math.prod(shape) * bits != (end - start) * 8):
        raise _wrong(path, f"a tensor {key!r} of {name}{[*shape]} in {end - start} bytes of {room}")
    return TensorInfo(name, shape)


def _wrong(path: Path, problem: str) -> UsageError:
    return UsageError(
        f"{path} is not a complete safetensors file: it has {problem}",
        "fetch it again (git lfs pull)",
    )
