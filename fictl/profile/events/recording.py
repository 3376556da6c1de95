"""Recording of one call of an op: its kernels, their warps, and the times of events in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from fictl.profile.events.clocks import Anchor, Clocks, clocks
from fictl.profile.events.layout import BEGIN, END, Slot
from fictl.profile.events.names import Names


@dataclass(frozen=True)
class Happened:
    """An event in a warp, in ns after the first begin of all; an instant has no end."""

    name: str
    begin: float
    end: float | None

    @property
    def length(self) -> float:
        return 0.0 if self.end is None else self.end - self.begin


@dataclass(frozen=True)
class Warp:
    """A recorded warp, or a group of warps with number `group` in the block.

    lost: events that did not fit. ended: whether it reached the end of its kernel.
    """

    block: int
    group: int
    sm: int
    begin: float
    end: float
    happened: tuple[Happened, ...]
    lost: int = 0
    ended: bool = True


@dataclass(frozen=True)
class Kernel:
    """One recorded launch of a kernel: number `launch` of `launches` in the call. If launches
    cannot be told apart, it is the last one, with number 0.

    blocks: number in its grid. groups: number in a block, of `group_warps` warps each.
    """

    name: str
    blocks: int
    groups: int
    group_warps: int
    launches: int
    warps: tuple[Warp, ...]
    launch: int = 1

    @cached_property
    def begin(self) -> float:
        return min(warp.begin for warp in self.warps)

    @cached_property
    def end(self) -> float:
        return max(warp.end for warp in self.warps)

    @property
    def recorded_blocks(self) -> int:
        return len({warp.block for warp in self.warps})

    @property
    def is_whole(self) -> bool:
        """True if all of its blocks recorded."""
        return self.recorded_blocks == self.blocks

    @property
    def lost(self) -> int:
        return sum(warp.lost for warp in self.warps)


@dataclass(frozen=True)
class Recording:
    """Recording of a call. tick: resolution in ns of the clock that all SMs share. cycle: ns a
    cycle of an SM.
    """

    kernels: tuple[Kernel, ...]
    cycle: float
    tick: int


@dataclass(frozen=True)
class Raw:
    """The slots of one kernel, before decoding."""

    launches: int
    slots: Sequence[Slot] = field(repr=False)


def anchors(slots: Sequence[Slot]) -> Iterator[Anchor]:
    for slot in slots:
        yield slot.sm, *slot.begin
        if slot.end is not None:
            yield slot.sm, *slot.end


def decode(raws: Mapping[int, Raw], names: Names, others: Sequence[Anchor] = ()) -> Recording:
    """Decode slots by the kernels' ids. `others` are clock readings of warps in an earlier call."""
    read = [anchor for raw in raws.values() for anchor in anchors(raw.slots)]
    known = clocks(read, others)
    kernels = (
        _kernel(names, known, raw, seen, launch)
        for raw in raws.values()
        for launch, seen in _launches(raw)
    )
    ordered = sorted(kernels, key=lambda kernel: kernel.begin)
    return Recording(tuple(ordered), known.cycle, known.tick)


def _launches(raw: Raw) -> Iterator[tuple[int, list[Slot]]]:
    """Yield launches from first to last; if they overwrote each other, only the last, with number
    0.

    It gets all slots that fit its grid; slots of blocks outside of its grid are left over from
    others.
    """
    by_launch: dict[int, list[Slot]] = {}
    for slot in sorted(raw.slots, key=lambda slot: slot.begin):
        by_launch.setdefault(slot.launch, []).append(slot)
    if len(by_launch) == raw.launches:
        yield from enumerate(by_launch.values(), 1)
    else:
        last = _grid(max(raw.slots, key=lambda slot: slot.begin))
        yield 0, [slot for slot in raw.slots if _grid(slot) == last]


def _grid(slot: Slot) -> tuple[int, int, int]:
    return slot.launch, slot.blocks, slot.groups


def _kernel(names: Names, known: Clocks, raw: Raw, seen: list[Slot], launch: int) -> Kernel:
    first = seen[0]
    warps = tuple(_warp(slot, names, known) for slot in seen)
    return Kernel(
        names.kernels[first.kernel],
        first.blocks,
        first.groups,
        first.warps,
        raw.launches,
        warps,
        launch,
    )


def _warp(slot: Slot, names: Names, known: Clocks) -> Warp:
    begin = known.at(slot.sm, slot.begin[1])
    seen = [(known.at(slot.sm, cycles), number, kind) for cycles, number, kind in slot.events]
    if slot.end is not None:
        end = known.at(slot.sm, slot.end[1])
    else:
        end = max([begin, *(time for time, _, _ in seen)])
    lost = max(0, slot.tried - len(slot.events))
    # If the end of an event did not fit, its duration is unknown.
    events = _happened(seen, names, None if lost else end)
    happened = tuple(sorted(events, key=lambda event: event.begin))
    return Warp(slot.block, slot.group, slot.sm, begin, end, happened, lost, slot.end is not None)


def _happened(
    seen: Sequence[tuple[float, int, int]], names: Names, end: float | None
) -> Iterator[Happened]:
    """Match an end with the last begin of its name; a begin without an end lasts until `end`, if
    known.
    """
    open_: dict[int, list[float]] = {}
    for time, number, kind in seen:
        begun = open_.setdefault(number, [])
        if kind == BEGIN:
            begun.append(time)
        elif kind == END and begun:
            yield Happened(names.event(number), begun.pop(), time)
        elif kind != END:
            yield Happened(names.event(number), time, None)
    if end is None:
        return
    for number, begun in open_.items():
        yield from (Happened(names.event(number), time, end) for time in begun)
