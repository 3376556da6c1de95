"""Tensors of a workload's files: read once, and copied for each turn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fictl.judge.inputs.safetensors_input import load

if TYPE_CHECKING:
    import torch

# What is larger is read again: it would fill the memory in which it is used.
_MOST_BYTES = 256 << 20


class KeptFiles:
    """Keeps what was read for one workload."""

    def __init__(self) -> None:
        self._tensors: dict[tuple[Path, str, str], torch.Tensor] = {}
        self._left = _MOST_BYTES

    def load(self, path: Path, key: str, device: str) -> torch.Tensor:
        """Return a tensor that is nobody else's."""
        known = self._tensors.get((path, key, device))
        if known is not None:
            return known.clone()
        tensor = load(path, key, device)
        size = tensor.numel() * tensor.element_size()
        if size > self._left:
            return tensor
        self._left -= size
        self._tensors[path, key, device] = tensor
        return tensor.clone()
