"""Recording in this process: kernels write into the given memory, which is read after they end."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from fictl.errors import FictlError, SetupError, UsageError
from fictl.jit.load import loaded_libraries
from fictl.profile.events.blocks import Blocks
from fictl.profile.events.layout import (
    COUNTS_BYTES,
    MOST_REGIONS,
    PLACES,
    Region,
    Session,
    Slot,
    division,
    launches,
    slot_bytes,
    slots,
)
from fictl.profile.events.messages import RecordedPart

# Memory of the probe call, which finds grid sizes, launches of each kernel, and events of a warp.
_PROBE_SLOTS, _PROBE_LAYERS, _PROBE_EVENTS = 64, 16, 256
_MOST_LAYERS = 64
_LEAST_EVENTS = 16
_MOST_BYTES = 1 << 30


@dataclass(frozen=True)
class Room:
    """Memory of one kernel: the recorded blocks have `slots` in all, in each of the layers.

    With several layers, launches use different ones unless their numbers differ by a multiple of
    the number of layers.
    """

    first: int
    step: int
    slots: int
    layers: int = 1


@dataclass(frozen=True)
class Written:
    """Content of a kernel's slots."""

    kernel: int
    launches: int
    memory: bytes


def modules() -> list[Any]:
    """Modules loaded in this process that can record."""
    libraries = (ctypes.CDLL(str(path)) for path in loaded_libraries())
    return [library for library in libraries if hasattr(library, "fictl_profiler_attach")]


class Recorder:
    """Recorder for the loaded modules; `device` is torch's name of the device that runs their
    kernels.
    """

    def __init__(self, device: str, libraries: Sequence[Any] | None = None) -> None:
        self._device = device
        self._modules = modules() if libraries is None else list(libraries)

    def record(
        self, call: Callable[[], object], rooms: Mapping[int, Room], capacity: int
    ) -> list[Written]:
        """Record one call. `rooms` is by kernel id; each warp may write `capacity` events."""
        with self.recording(rooms, capacity) as lent:
            call()
        memory = lent.cpu().numpy().tobytes()
        loaded = []
        for number, region in _regions(rooms):
            size = slot_bytes(capacity)
            start = COUNTS_BYTES + region.base * size
            end = start + region.slots * region.layers * size
            loaded.append(Written(region.kernel, launches(memory, number), memory[start:end]))
        return loaded

    @contextmanager
    def recording(self, rooms: Mapping[int, Room], capacity: int) -> Iterator[Any]:
        """Provide the memory that kernels write into inside the context, as a tensor of bytes."""
        lent = self._lend(rooms, capacity)
        self._attach(_session(rooms, lent.data_ptr(), capacity))
        try:
            yield lent
        finally:
            self._attach(Session())

    def _lend(self, rooms: Mapping[int, Room], capacity: int) -> Any:
        import torch

        warps = sum(room.slots * room.layers for room in rooms.values())
        size = COUNTS_BYTES + warps * slot_bytes(capacity)
        if size > _MOST_BYTES:
            raise UsageError(
                f"{warps} warps with {capacity} events each take {size >> 20} MiB",
                "choose fewer blocks with --blocks, or a smaller --events",
            )
        return torch.zeros(size, dtype=torch.uint8, device=self._device)

    def _attach(self, session: Session) -> None:
        for module in self._modules:
            status = module.fictl_profiler_attach(ctypes.byref(session))
            if status:
                raise FictlError(f"the kernels ended with CUDA error {status}")


def _session(rooms: Mapping[int, Room], memory: int, capacity: int) -> Session:
    session = Session(memory, capacity)
    for number, region in _regions(rooms):
        session.regions[number] = region
        session.more = max(session.more, number + 1 - PLACES)
    return session


def _regions(rooms: Mapping[int, Room]) -> list[tuple[int, Region]]:
    """Regions, each with its number: the index where its kernel looks first, or one after all of
    these.
    """
    regions: dict[int, Region] = {}
    base = 0
    for kernel, room in rooms.items():
        number = kernel % PLACES
        if number in regions:
            number = max(PLACES, *(taken + 1 for taken in regions))
        if number >= MOST_REGIONS:
            raise SetupError(
                f"{len(rooms)} kernels of the module record, which are too many at a time",
                "take FICTL_KERNEL out of some",
            )
        regions[number] = Region(
            kernel, room.first, *division(room.step), base, room.slots, room.layers
        )
        base += room.slots * room.layers
    return list(regions.items())


def probe_rooms(kernels: Sequence[int]) -> tuple[dict[int, Room], int]:
    """Memory for the first warps of every kernel, and the number of events for each warp."""
    return {number: Room(0, 1, _PROBE_SLOTS, _PROBE_LAYERS) for number in kernels}, _PROBE_EVENTS


def rooms_for(
    probed: Mapping[int, Sequence[Slot]],
    launched: Mapping[int, int],
    blocks: Blocks,
    events: int,
) -> tuple[dict[int, Room], int]:
    """Memory that the kernels of a call need, by the events of the first warps of each.

    launched: number of launches of each kernel.
    """
    rooms = {}
    for number, seen in probed.items():
        grids = {(slot.blocks, slot.groups) for slot in seen}
        grid, groups = max(grids, key=prod)
        chosen = blocks.of(grid, groups)
        if len(chosen):
            layers = layers_for({slot.launch for slot in seen}, launched[number])
            rooms[number] = Room(chosen.start, chosen.step, len(chosen) * groups, layers)
    if not rooms:
        sizes = ", ".join(str(seen[0].blocks) for seen in probed.values())
        raise UsageError(f"--blocks {blocks} chooses none", f"the grid has {sizes} blocks")
    most = max(slot.tried for seen in probed.values() for slot in seen)
    return rooms, events or max(_LEAST_EVENTS, 2 * most)


def layers_for(numbers: Collection[int], launched: int) -> int:
    """The fewest layers that keep launches with these numbers apart; 1 if the numbers do not
    differ.
    """
    if len(numbers) != launched:
        return 1
    apart = (
        layers
        for layers in range(launched, _MOST_LAYERS + 1)
        if len({number % layers for number in numbers}) == launched
    )
    return next(apart, 1)


def left(written: Sequence[Written], capacity: int) -> dict[int, list[Slot]]:
    """Slots by kernel, for kernels that were launched."""
    by_kernel = {part.kernel: list(slots(part.memory, capacity)) for part in written}
    return {number: seen for number, seen in by_kernel.items() if seen}


def write_memory(written: Sequence[Written], path: Path) -> tuple[RecordedPart, ...]:
    """Write the contents one after the other; return the sizes needed to read them back."""
    with path.open("wb") as file:
        for part in written:
            file.write(part.memory)
    return tuple(RecordedPart(part.kernel, part.launches, len(part.memory)) for part in written)
