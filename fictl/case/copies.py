"""Copies of a call's arguments, so that a call cannot change the caller's tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from fictl.case.poison import poison

# Bytes up to which a copy keeps its original's alignment, by which kernels choose their loads.
_ALIGNMENT = 256


def copied(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Copy the tensors among the arguments, including those in lists.

    A tensor passed under two names, as in an in-place call, is copied once.
    """
    copies: dict[int, torch.Tensor] = {}

    def copy(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if id(value) not in copies:
                copies[id(value)] = _copy(value)
            return copies[id(value)]
        return type(value)(map(copy, value)) if type(value) in (list, tuple) else value

    return {name: copy(value) for name, value in arguments.items()}


def poisoned_like(tensor: torch.Tensor) -> torch.Tensor:
    """Allocate a tensor of the same shape, strides and alignment, filled with poison."""
    copy = _copy(tensor)
    poison([copy])
    return copy


def bytes_of(arguments: Mapping[str, Any]) -> int:
    """Add up the bytes of all tensors; a tensor under two names counts once."""
    sizes: dict[int, int] = {}

    def add(value: Any) -> None:
        if isinstance(value, torch.Tensor):
            sizes[id(value)] = value.numel() * value.element_size()
        elif isinstance(value, list | tuple):
            for item in value:
                add(item)

    add(list(arguments.values()))
    return sum(sizes.values())


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    """Copy a tensor with its strides and its alignment."""
    source = _span(tensor.detach())
    before = tensor.data_ptr() % _ALIGNMENT // tensor.element_size()
    memory = torch.empty(before + len(source), dtype=tensor.dtype, device=tensor.device)
    memory[before:].copy_(source)
    return memory.as_strided(tensor.shape, tensor.stride(), before)


def _span(tensor: torch.Tensor) -> torch.Tensor:
    """View the memory from the first element to the last as a tensor of one dimension."""
    pairs = zip(tensor.shape, tensor.stride(), strict=True)
    length = 1 + sum((size - 1) * stride for size, stride in pairs) if tensor.numel() else 0
    return tensor.as_strided((length,), (1,), tensor.storage_offset())
