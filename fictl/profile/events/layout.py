"""Layout of the memory: structures of <fictl/device/profiler.cuh> on the host."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from dataclasses import dataclass

PLACES = 16
MOST_REGIONS = 2 * PLACES
INSTANT, BEGIN, END = range(3)

_PAIR = struct.Struct("<QQ")
_SLOT = struct.Struct("<QQ QQ IHHII Q8x QQ QQ")
_EVENT = struct.Struct("<QII")

# Size of the table before the slots: the number of launches of each region's kernel.
COUNTS_BYTES = MOST_REGIONS * _PAIR.size


class Region(ctypes.Structure):
    """Slots of one kernel. Every n-th block from `first` has a slot for each of its groups, up to
    `slots` in each layer; launches use the layers in turn. inverse, rotation, limit: constants of
    the division by n.
    """

    _fields_ = tuple(
        (name, ctypes.c_uint32)
        for name in ("kernel", "first", "inverse", "rotation", "limit", "base", "slots", "layers")
    )


class Session(ctypes.Structure):
    """Recording settings of a module's kernels; without regions they record nothing."""

    _fields_ = (
        ("memory", ctypes.c_uint64),
        ("capacity", ctypes.c_uint32),
        ("more", ctypes.c_uint32),
        ("regions", Region * MOST_REGIONS),
    )


def division(step: int) -> tuple[int, int, int]:
    """Constants to divide numbers below 2^32 by a step: (inverse, rotation, limit).

    The product with the inverse of the step's odd part, rotated to the right, is the quotient if it
    is at most the limit; else the number is not divisible.
    """
    rotation = (step & -step).bit_length() - 1
    return pow(step >> rotation, -1, 1 << 32), rotation, ((1 << 32) - 1) // step


@dataclass(frozen=True)
class Slot:
    """Events that one warp, or a group of warps, has written.

    begin, end: (ns on the clock of all SMs, cycles of the SM's own clock). If the warp did not
    reach its end, end is None and `tried` is the number of events found. group: one of `groups` in
    its block, of `warps` warps each. launch: number of the launch, or 0. tried: events, including
    events that did not fit. events: (cycles, name's id, kind).
    """

    begin: tuple[int, int]
    end: tuple[int, int] | None
    block: int
    blocks: int
    kernel: int
    sm: int
    group: int
    groups: int
    warps: int
    launch: int
    tried: int
    events: tuple[tuple[int, int, int], ...]


def slot_bytes(capacity: int) -> int:
    return _SLOT.size + capacity * _EVENT.size


def launches(memory: bytes, region: int) -> int:
    """Number of launches that recorded into this region."""
    return int(_PAIR.unpack_from(memory, region * _PAIR.size)[0])


def slots(memory: bytes, capacity: int) -> Iterator[Slot]:
    """Read consecutive slots, and yield the written ones."""
    for start in range(0, len(memory), slot_bytes(capacity)):
        facts = _SLOT.unpack_from(memory, start)
        blocks = facts[3]
        if blocks:
            yield _slot(facts, memory[start + _SLOT.size : start + slot_bytes(capacity)])


def _slot(facts: tuple[int, ...], room: bytes) -> Slot:
    time, cycles, block, blocks, kernel, sm, warps, group, groups, launch = facts[:10]
    end_time, end_cycles, tried, ended = facts[10:]
    if not ended:
        tried = len(room) // _EVENT.size
    events = tuple(_EVENT.iter_unpack(room[: _EVENT.size * tried]))
    if not ended:
        events = tuple(event for event in events if event[0])
    return Slot(
        (time, cycles),
        (end_time, end_cycles) if ended else None,
        block,
        blocks,
        kernel,
        sm,
        group,
        groups,
        warps,
        launch,
        tried if ended else len(events),
        events,
    )
