"""Values of a call as short text on one line, without any access to a GPU."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import Any

import torch

from fictl.dtype import DTYPES

# A page table of a thousand lists should not fill the log.
_ITEMS, _DEPTH, _LETTERS = 8, 3, 80
_NUMBERS = (bool, int, float, complex, type(None))


def describe(value: Any, depth: int = 0) -> str:
    """Format `bf16[4096,4096] cuda:0`, with strides if not contiguous; `1e-06`; `[1, 2, 3]`."""
    if isinstance(value, torch.Tensor):
        return _tensor(value)
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if type(value) in _NUMBERS or isinstance(value, (torch.dtype, torch.device)):
        return repr(value)
    if isinstance(value, (str, bytes)):
        return repr(value[:_LETTERS]) + ("…" if len(value) > _LETTERS else "")
    if isinstance(value, (list, tuple, dict)) and depth < _DEPTH:
        return _container(value, depth + 1)
    if hasattr(value, "shape") and hasattr(value, "dtype"):  # NumPy, JAX, CuPy
        return f"{type(value).__module__}.{type(value).__name__} {value.dtype}{_sizes(value.shape)}"
    return type(value).__name__  # Its repr may be long, or access a device.


def tensors(values: Mapping[str, Any]) -> list[tuple[str, torch.Tensor]]:
    """List the tensors in `values`, and in lists of values, each with its name."""
    named = []
    for name, value in values.items():
        if isinstance(value, torch.Tensor):
            named.append((name, value))
        elif isinstance(value, (list, tuple)):
            items = enumerate(value[:_ITEMS])
            named += [(f"{name}[{i}]", item) for i, item in items if isinstance(item, torch.Tensor)]
    return named


def _tensor(tensor: torch.Tensor) -> str:
    full = str(tensor.dtype).removeprefix("torch.")
    dtype = DTYPES[full].short if full in DTYPES else full
    if tensor.layout is not torch.strided:
        return f"{dtype}{_sizes(tensor.shape)} {tensor.layout} {tensor.device}"
    order = "" if tensor.is_contiguous() else f" strides{_sizes(tensor.stride())}"
    return f"{dtype}{_sizes(tensor.shape)}{order or ' contiguous'} {tensor.device}"


def _sizes(shape: Iterable[int]) -> str:
    return f"[{','.join(map(str, shape))}]"


def _container(value: list[Any] | tuple[Any, ...] | dict[Any, Any], depth: int) -> str:
    if isinstance(value, dict):
        pairs = list(value.items())[:_ITEMS]
        items = [f"{describe(key, depth)}: {describe(item, depth)}" for key, item in pairs]
        left, right = "{", "}"
    else:
        items = [describe(item, depth) for item in value[:_ITEMS]]
        left, right = "()" if isinstance(value, tuple) else "[]"
    more = [f"… {len(value) - _ITEMS} more"] if len(value) > _ITEMS else []
    return left + ", ".join(items + more) + right
