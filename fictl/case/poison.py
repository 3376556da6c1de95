"""Poison: memory filled with values that no kernel writes: NaN, or -1 in integers."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

# NaN in every floating-point format, -1 in every signed integer format.
POISON_BYTE = 0xFF


def poison(tensors: Iterable[torch.Tensor]) -> None:
    """Fill every byte of each tensor with 0xFF, for any strides; skip expanded tensors."""
    for tensor in tensors:
        if tensor.numel() and not _overlaps_itself(tensor):
            bytes_of_elements(tensor).fill_(POISON_BYTE)


def unwritten(tensor: torch.Tensor) -> int:
    """Count the elements that still hold poison.

    Integers are not counted, because -1 may be a result, nor are expanded tensors.
    """
    if not (tensor.numel() and tensor.is_floating_point()) or _overlaps_itself(tensor):
        return 0
    return int((bytes_of_elements(tensor) == POISON_BYTE).all(dim=-1).sum())


def fill_unwritten(tensor: torch.Tensor) -> None:
    """Fill an output with what torch fills allocations with (`poisoned_allocations`): NaN, or the
    largest integer. Memory beside inputs has poison instead, so that the two can be told apart.
    """
    value = _unwritten_value(tensor.dtype)
    if value is None:
        poison([tensor])
    elif tensor.numel() and not _overlaps_itself(tensor):
        tensor.fill_(value)


def never_written(tensor: torch.Tensor) -> torch.Tensor:
    """Mark the elements that hold what `fill_unwritten` put there, bit by bit."""
    import torch

    value, plain = _unwritten_value(tensor.dtype), tensor.detach().contiguous()
    if value is None or not plain.numel():
        return torch.zeros(plain.shape, dtype=torch.bool, device=plain.device)
    filled = torch.empty_like(plain.view(-1)[:1]).fill_(value)
    same: torch.Tensor = (bytes_of_elements(plain) == bytes_of_elements(filled)[0]).all(dim=-1)
    return same


def _unwritten_value(dtype: torch.dtype) -> float | int | None:
    """None for formats that have no value for it."""
    import torch

    if dtype is torch.bool or "float4" in str(dtype):
        return None
    return torch.nan if dtype.is_floating_point else torch.iinfo(dtype).max


def bytes_of_elements(tensor: torch.Tensor) -> torch.Tensor:
    """View a tensor of any strides as uint8, with an added dimension for an element's bytes."""
    import torch

    size = tensor.element_size()
    view = torch.empty(0, dtype=torch.uint8, device=tensor.device)
    return view.set_(
        tensor.untyped_storage(),
        tensor.storage_offset() * size,
        (*tensor.shape, size),
        (*(stride * size for stride in tensor.stride()), 1),
    )


@contextmanager
def poisoned_allocations() -> Iterator[None]:
    """Make torch fill new allocations with NaN, which is one of its aids to determinism."""
    import torch

    # Why not use_deterministic_algorithms: it imports the compiler, which takes two seconds.
    before = torch.get_deterministic_debug_mode()
    torch.set_deterministic_debug_mode("warn")
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*deterministic", UserWarning)
            yield
    finally:
        torch.set_deterministic_debug_mode(before)


def _overlaps_itself(tensor: torch.Tensor) -> bool:
    """True if two indices address the same memory, as in an expanded tensor."""
    pairs = zip(tensor.shape, tensor.stride(), strict=True)
    return any(size > 1 and stride == 0 for size, stride in pairs)
