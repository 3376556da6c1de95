"""Memory: the storages of a recording on the device of its replay."""

from __future__ import annotations

from zlib import crc32

import torch

from fictl.op.watch.dump.record import Refused
from fictl.op.watch.dump.values import dtype_named
from fictl.replay.recording.document import Recording, View, Written

_PIECE = 1 << 24


class Memory:
    """Tensors by their index. A storage is allocated when a step first needs it."""

    def __init__(self, recording: Recording, device: str) -> None:
        self._recording = recording
        self._device = device
        self._bytes: dict[int, torch.Tensor] = {}

    def __getitem__(self, index: str) -> torch.Tensor:
        view = self.view(index)
        return self._seen(self._storage(view.storage), view)

    def __contains__(self, index: object) -> bool:
        text = str(index)
        return text.isdecimal() and int(text) < len(self._recording.views)

    def view(self, index: str) -> View:
        return self._recording.views[int(index)]

    def is_there(self, index: str) -> bool:
        """Tell whether the tensor's storage has been made."""
        return self.view(index).storage in self._bytes

    def adopt(self, index: str, tensor: torch.Tensor) -> None:
        """Take what a call returned for the storage of the recorded result."""
        view = self.view(index)
        if view.storage not in self._bytes:
            whole = torch.empty(0, dtype=torch.uint8, device=tensor.device)
            self._bytes[view.storage] = whole.set_(tensor.untyped_storage())

    def write(self, step: Written) -> None:
        """Put the program's own integers there."""
        tensor = self[str(step.view)]
        values = torch.empty(tensor.shape, dtype=tensor.dtype)
        flat, at = values.view(-1), 0
        for first, step_by, count in step.runs:
            if step_by:
                run = torch.arange(count, dtype=torch.int64) * step_by + int(first)
                flat[at : at + count] = run.to(tensor.dtype)
            else:
                flat[at : at + count] = first
            at += count
        tensor.copy_(values)

    def _storage(self, index: int) -> torch.Tensor:
        if index not in self._bytes:
            self._bytes[index] = self._allocated(index)
        return self._bytes[index]

    def _allocated(self, index: int) -> torch.Tensor:
        entry = self._recording.storages[index]
        on_gpu = entry.place == "cuda" and self._device != "cpu"
        pinned = entry.place == "pinned" and self._device != "cpu"
        size = -(-entry.bytes // 16) * 16
        memory = torch.zeros(
            size, dtype=torch.uint8, device=self._device if on_gpu else "cpu", pin_memory=pinned
        )
        if entry.fill:
            _fill(memory, entry.fill, f"{self._recording.scene} {index}")
        return memory

    def _seen(self, memory: torch.Tensor, view: View) -> torch.Tensor:
        dtype = dtype_named(view.dtype)
        room = memory.untyped_storage().nbytes() // dtype.itemsize
        last = sum((n - 1) * step for n, step in zip(view.shape, view.stride, strict=True))
        if 0 not in view.shape and view.offset + last >= room:
            raise Refused(f"a call returned {room} elements of {dtype}, and more were recorded")
        seen = torch.empty(0, dtype=dtype, device=memory.device)
        return seen.set_(memory.untyped_storage(), view.offset, view.shape, view.stride)


def _fill(memory: torch.Tensor, dtype: str, seed: str) -> None:
    """Fill with normal values by a seed, a piece at a time: a cache may fill its GPU."""
    values = memory.view(dtype_named(dtype))
    generator = torch.Generator(memory.device).manual_seed(crc32(seed.encode()))
    for piece in torch.split(values, _PIECE):
        drawn = torch.randn(len(piece), generator=generator, device=memory.device)
        piece.copy_(drawn.to(values.dtype))
