"""The calls of a round: enough copies that each call finds L2 cold, or a flush before each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fictl.timing.side import Side

# Copies of this many times L2 have left L2 when they are used again; _ROTATED adds a reserve.
COLD = 2.0
_ROTATED = 2.5
# With more copies, the calls of a round take longer than flushing: a call and its records
# cost the host up to 300 us.
_FEWEST, _MOST = 2, 128
# With a flush the copies need not fill L2: this many give enough different contents.
_FLUSHED = 16
_SHARE_OF_FREE = 0.8
_MOST_CALLS = 128


@dataclass(frozen=True)
class Memory:
    """Size of the GPU's L2 cache, and its free memory, in bytes."""

    l2: int
    free: int


@dataclass(frozen=True, eq=False)
class Rotation:
    """Calls of one side in a round.

    flush: runs before each call, outside its time.
    cold: L2 holds none of a call's data.
    """

    name: str
    calls: tuple[Callable[[], object], ...]
    cold: bool
    flush: Callable[[], object] | None = None
    repeats: int = 1

    @property
    def copies(self) -> int:
        return len(self.calls) // self.repeats

    def lasting(self, seconds: float, call: float) -> Rotation:
        """Repeat the rotation so that it takes `seconds`, where one call takes `call` seconds."""
        wanted = math.ceil(seconds / (call * len(self.calls)))
        repeats = max(1, min(wanted, _MOST_CALLS // len(self.calls)))
        return replace(self, calls=self.calls * repeats, repeats=repeats)


def _own(number: int) -> int:
    return number


def rotations(
    sides: Mapping[str, Side],
    device: str,
    *,
    cold: bool,
    agree: Callable[[int], int] = _own,
) -> list[Rotation]:
    """Make all sides' rotations in one way: L2 differs after a flush and after other copies.

    agree: makes one number of copies of those of several ranks, which call the sides together.
    """
    if not cold or not device.startswith("cuda"):
        return [_rotation(name, side, 1) for name, side in sides.items()]
    memory = memory_here()
    share = Memory(memory.l2, int(memory.free * _SHARE_OF_FREE / len(sides)))
    counts = {name: agree(copies(side.working_set, share)) for name, side in sides.items()}
    if all(counts[name] * side.working_set >= COLD * share.l2 for name, side in sides.items()):
        return [_rotation(name, side, counts[name], cold=True) for name, side in sides.items()]
    flush = _flush(memory.l2)
    return [
        _rotation(name, side, min(counts[name], _FLUSHED), cold=True, flush=flush)
        for name, side in sides.items()
    ]


def copies(working_set: int, memory: Memory) -> int:
    """Return how many copies fill L2 several times; fewer if those are too many or do not fit."""
    if working_set <= 0:
        return _FEWEST
    wanted = max(_FEWEST, math.ceil(_ROTATED * memory.l2 / working_set))
    return max(1, min(wanted, _MOST, memory.free // working_set))


def _rotation(
    name: str,
    side: Side,
    count: int,
    *,
    cold: bool = False,
    flush: Callable[[], object] | None = None,
) -> Rotation:
    return Rotation(name, tuple(side.make(index) for index in range(count)), cold, flush)


def memory_here() -> Memory:
    """Return the L2 cache and the free memory of the current GPU."""
    import torch

    cuda: Any = torch.cuda
    unused = cuda.memory_reserved() - cuda.memory_allocated()
    return Memory(
        cuda.get_device_properties(cuda.current_device()).L2_cache_size,
        cuda.mem_get_info()[0] + unused,
    )


def _flush(l2: int) -> Callable[[], object]:
    import torch

    buffer = torch.empty(int(COLD * l2), dtype=torch.uint8, device="cuda")
    return buffer.zero_
