"""WorkloadEntry: one collected call, with the values that random numbers cannot stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import torch

Lengths: TypeAlias = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class WorkloadEntry:
    """`axes` are the variable ones; `tensors` lie on the CPU; `lengths` are those of sequences."""

    definition: str
    axes: Mapping[str, int]
    tensors: Mapping[str, torch.Tensor] = field(default_factory=dict)
    numbers: Mapping[str, Any] = field(default_factory=dict)
    lengths: Lengths = field(default_factory=dict)
    order: int = 0

    @property
    def size(self) -> int:
        """Bytes of its values."""
        return sum(tensor.nbytes for tensor in self.tensors.values())
