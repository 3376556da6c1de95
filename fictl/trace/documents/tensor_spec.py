"""TensorSpec: the axes and the element type of an input or an output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, get_args

from pydantic import Field

from fictl.trace.documents.part import NonEmpty, Part

if TYPE_CHECKING:
    import torch

_Published = Literal[
    "float32",
    "float16",
    "bfloat16",
    "float8_e4m3fn",
    "float8_e5m2",
    "float4_e2m1",
    "int64",
    "int32",
    "int16",
    "int8",
    "bool",
]
_Ours = Literal["float64", "uint8", "float8_e8m0fnu", "float4_e2m1fn_x2"]

# Dtypes of flashinfer-bench, and those that fictl adds.
PUBLISHED_TYPES: tuple[str, ...] = get_args(_Published)
ELEMENT_TYPES: tuple[str, ...] = PUBLISHED_TYPES + get_args(_Ours)
_MOST_DIMENSIONS = 64  # As torch's tensors have.
_TORCH = {"float4_e2m1": "float4_e2m1fn_x2"}


def is_digits(axis: str) -> bool:
    """Tell whether a part of a shape is a size, and not the name of an axis."""
    return axis.isascii() and axis.isdecimal()


def torch_name(dtype: str) -> str:
    """Name of a definition's dtype in torch and in fictl."""
    return _TORCH.get(dtype, dtype)


def torch_dtype(dtype: str) -> torch.dtype:
    """Convert a definition's dtype; only this function needs torch."""
    import torch

    torch_type: torch.dtype = getattr(torch, torch_name(dtype))
    return torch_type


def published_name(dtype: str) -> str:
    """Name of a torch dtype in definitions."""
    return next((theirs for theirs, ours in _TORCH.items() if ours == dtype), dtype)


class TensorSpec(Part):
    """A tensor, or a Python number if `shape` is None.

    A shape consists of names of axes; SOL-ExecBench also has sizes in digits.
    """

    shape: Annotated[tuple[NonEmpty, ...], Field(max_length=_MOST_DIMENSIONS)] | None
    dtype: _Published | _Ours
    description: str | None = None

    says_null = frozenset({"shape"})
