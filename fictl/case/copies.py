"""Copies of a call's arguments: candidates must not write what is the caller's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

# As far as a kernel's choice of its loads goes, a copy lies as its original does.
_ALIGNMENT = 256


def copied(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Of the tensors among them; two names of one tensor, as of a call in place, stay one."""
    made: dict[int, torch.Tensor] = {}

    def copy(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if id(value) not in made:
                made[id(value)] = _copy(value)
            return made[id(value)]
        return type(value)(map(copy, value)) if type(value) in (list, tuple) else value

    return {name: copy(value) for name, value in arguments.items()}


def poisoned_like(tensor: torch.Tensor) -> torch.Tensor:
    """All bits set: NaN, or -1; a kernel that writes nothing leaves it so."""
    made = _copy(tensor)
    _span(made).view(torch.uint8).fill_(0xFF)
    return made


def bytes_of(arguments: Mapping[str, Any]) -> int:
    """Of all tensors, each once."""
    found: dict[int, int] = {}

    def add(value: Any) -> None:
        if isinstance(value, torch.Tensor):
            found[id(value)] = value.numel() * value.element_size()
        elif isinstance(value, list | tuple):
            for each in value:
                add(each)

    add(list(arguments.values()))
    return sum(found.values())


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    """With its strides and its alignment."""
    source = _span(tensor.detach())
    before = tensor.data_ptr() % _ALIGNMENT // tensor.element_size()
    room = torch.empty(before + len(source), dtype=tensor.dtype, device=tensor.device)
    room[before:].copy_(source)
    return room.as_strided(tensor.shape, tensor.stride(), before)


def _span(tensor: torch.Tensor) -> torch.Tensor:
    """The memory from its first element to its last."""
    pairs = zip(tensor.shape, tensor.stride(), strict=True)
    length = 1 + sum((size - 1) * stride for size, stride in pairs) if tensor.numel() else 0
    return tensor.as_strided((length,), (1,), tensor.storage_offset())
