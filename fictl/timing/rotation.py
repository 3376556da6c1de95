"""The calls of a round: copies enough that each call finds its data out of L2, or a flush between."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fictl.timing.side import Side

# A working set of so many times L2 is out of it when its turn comes again; the rest is reserve.
COLD = 2.0
_ROTATED = 2.5
# Beyond so many, the calls of one round take longer than flushing: a call and its records cost the
# host up to 300 us.
_FEWEST, _MOST = 2, 128
# With a flush the copies need not fill L2: so many differ enough in what they hold.
_FLUSHED = 16
_SHARE_OF_FREE = 0.8
_MOST_CALLS = 128


@dataclass(frozen=True)
class Memory:
    """Memory of the GPU: its L2 cache, and what is free beside it, in bytes."""

    l2: int
    free: int


@dataclass(frozen=True, eq=False)
class Rotation:
    """`flush` runs before each call and does not count in its time; `cold` is whether L2 was."""

    name: str
    calls: tuple[Callable[[], object], ...]
    cold: bool
    flush: Callable[[], object] | None = None
    repeats: int = 1

    @property
    def copies(self) -> int:
        return len(self.calls) // self.repeats

    def lasting(self, seconds: float, call: float) -> Rotation:
        """Itself so often that it lasts these seconds, as one call lasts `call`."""
        wanted = math.ceil(seconds / (call * len(self.calls)))
        repeats = max(1, min(wanted, _MOST_CALLS // len(self.calls)))
        return replace(self, calls=self.calls * repeats, repeats=repeats)


def rotations(sides: Mapping[str, Side], device: str, *, cold: bool) -> list[Rotation]:
    """All sides in one way: L2 is not the same after a flush as after other copies."""
    if not cold or not device.startswith("cuda"):
        return [_rotation(name, side, 1) for name, side in sides.items()]
    memory = _memory()
    share = Memory(memory.l2, int(memory.free * _SHARE_OF_FREE / len(sides)))
    counts = {name: copies(side.working_set, share) for name, side in sides.items()}
    if all(counts[name] * side.working_set >= COLD * share.l2 for name, side in sides.items()):
        return [_rotation(name, side, counts[name], cold=True) for name, side in sides.items()]
    flush = _flush(memory.l2)
    return [
        _rotation(name, side, min(counts[name], _FLUSHED), cold=True, flush=flush)
        for name, side in sides.items()
    ]


def copies(working_set: int, memory: Memory) -> int:
    """So many that they fill L2 several times; fewer where they are too many or do not fit."""
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


def _memory() -> Memory:
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
