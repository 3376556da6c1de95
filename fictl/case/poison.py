"""Outputs filled with what no kernel leaves there: NaN, or -1 where there is none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

_BYTE = 0xFF


def poison(outputs: Iterable[torch.Tensor]) -> None:
    """Every byte 0xFF: NaN in each floating type."""
    import torch

    for tensor in outputs:
        if tensor.numel() and tensor.is_contiguous():
            tensor.reshape(-1).view(torch.uint8).fill_(_BYTE)


def unwritten(tensor: torch.Tensor) -> int:
    """How many elements are as `poison` left them; integers may well be -1, and do not count."""
    import torch

    if not (tensor.numel() and tensor.is_contiguous() and tensor.is_floating_point()):
        return 0
    bytes_of = tensor.reshape(-1).view(torch.uint8).view(tensor.numel(), tensor.element_size())
    return int((bytes_of == _BYTE).all(dim=1).sum())
