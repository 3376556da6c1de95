"""Storages: the memory behind a program's tensors, and what a replay has to put there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from fictl.replay.recording.document import StorageEntry, View

# Floats of so few elements are factors, which a replay needs as they were.
_FEW = 16
# Memory beyond that is a workspace or a cache: its bytes are not read.
_MOST_READ = 16 << 20
_EXACT = {
    torch.bool,
    torch.int8,
    torch.uint8,
    torch.int16,
    torch.uint16,
    torch.int32,
    torch.uint32,
    torch.int64,
}
Run = tuple[int | float, int, int]


def place_of(tensor: torch.Tensor) -> str:
    """Return where a tensor lies: cuda, pinned or cpu."""
    if tensor.device.type != "cpu":
        return "cuda"
    ready = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    return "pinned" if ready and tensor.is_pinned() else "cpu"


class Storages:
    """Tensors by the storage they share. A storage that was seen lives on, so that none is reused."""

    def __init__(self, place: Callable[[torch.Tensor], str] = place_of) -> None:
        self._place = place
        self._indices: dict[int, int] = {}
        self._alive: list[Any] = []
        self._fills: list[str] = []
        self._places: list[str] = []
        self._views: dict[View, int] = {}
        self._mirrors: dict[int, torch.Tensor] = {}

    def knows(self, tensor: torch.Tensor) -> bool:
        return tensor.untyped_storage()._cdata in self._indices  # noqa: SLF001  its identity

    def index(self, tensor: torch.Tensor) -> int:
        """Return the index of the tensor, which is new or one of the same place."""
        storage = self._storage(tensor)
        view = View(
            storage=storage,
            dtype=str(tensor.dtype).removeprefix("torch."),
            shape=tuple(tensor.shape),
            stride=tuple(tensor.stride()),
            offset=int(tensor.storage_offset()),
        )
        if _is_random(tensor) and not self._fills[storage]:
            self._fills[storage] = view.dtype
        return self._views.setdefault(view, len(self._views))

    def changed(self, tensor: torch.Tensor) -> list[Run] | None:
        """Return the elements of a tensor where a replay would find others; it knows them then."""
        if _is_random(tensor) or not tensor.numel() or 0 in tensor.stride():
            return None
        storage = tensor.untyped_storage()
        if storage.nbytes() > _MOST_READ and tensor.dtype is torch.uint8:
            return None
        if tensor.is_cuda and torch.cuda.is_current_stream_capturing():
            return None  # It cannot be read now, and graphs read what is there at a replay.
        mirror = self._mirror(self._storage(tensor), storage.nbytes())
        here = tensor.detach().cpu()
        known = mirror.view(tensor.dtype).as_strided(
            tensor.shape, tensor.stride(), tensor.storage_offset()
        )
        if torch.equal(here, known):
            return None
        known.copy_(here)
        return runs(here)

    def forget(self, tensor: torch.Tensor) -> None:
        """Take what a call wrote for known: a replay's call writes it, too."""
        if not _is_random(tensor) and tensor.numel() and 0 not in tensor.stride():
            self.changed(tensor)

    def entries(self) -> list[StorageEntry]:
        rows = zip(self._alive, self._places, self._fills, strict=True)
        return [
            StorageEntry.model_validate({"bytes": kept.nbytes(), "place": place, "fill": fill})
            for kept, place, fill in rows
        ]

    def views(self) -> list[View]:
        return [*self._views]

    def _storage(self, tensor: torch.Tensor) -> int:
        storage = tensor.untyped_storage()
        key = storage._cdata  # noqa: SLF001  its identity
        if key not in self._indices:
            self._indices[key] = len(self._alive)
            self._alive.append(storage)
            self._places.append(self._place(tensor))
            self._fills.append("")
        return self._indices[key]

    def _mirror(self, index: int, size: int) -> torch.Tensor:
        if index not in self._mirrors:
            self._mirrors[index] = torch.zeros(-(-size // 8) * 8, dtype=torch.uint8)
        return self._mirrors[index]


def runs(tensor: torch.Tensor) -> list[Run]:
    """Return the elements in order as runs (first, step, count) of equal steps."""
    values = tensor.flatten().tolist()
    if tensor.is_floating_point():
        return [(float(value), 0, 1) for value in values]
    spans: list[Run] = []
    for value in map(int, values):
        if spans:
            first, step, count = spans[-1]
            if count == 1:
                spans[-1] = (first, value - int(first), 2)
                continue
            if value == first + step * count:
                spans[-1] = (first, step, count + 1)
                continue
        spans.append((value, 0, 1))
    return spans


def _is_random(tensor: torch.Tensor) -> bool:
    return tensor.dtype not in _EXACT and tensor.numel() > _FEW
