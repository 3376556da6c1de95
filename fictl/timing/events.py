"""Timing by a pair of CUDA events around each call: always available, least exact."""

from __future__ import annotations

import time
from collections.abc import Callable

from fictl.timing.event_pair import EventPair
from fictl.timing.lead import lead
from fictl.timing.rotation import Rotation
from fictl.timing.timer import Timer

# Launches enqueued behind a busy GPU: beyond about a thousand, the host would wait as well.
_ENQUEUED = 64
_FIRST_LEAD_SECONDS = 1e-3


class Events(Timer):
    """Timer that adds a kernel's launch, 1 to 2 us; its resolution is half a microsecond."""

    name = "events"

    def __init__(self) -> None:
        self._host_seconds: dict[Rotation, float] = {}

    def time(self, rotation: Rotation) -> float:
        pairs: list[EventPair] = []
        for first in range(0, len(rotation.calls), _ENQUEUED):
            lead(self._host_seconds.get(rotation, _FIRST_LEAD_SECONDS))
            began = time.perf_counter()
            batch = rotation.calls[first : first + _ENQUEUED]
            pairs += [_timed(call, rotation.flush) for call in batch]
            self._host_seconds[rotation] = time.perf_counter() - began
        return sum(pair.seconds() for pair in pairs) / len(pairs)


def _timed(call: Callable[[], object], flush: Callable[[], object] | None) -> EventPair:
    if flush:
        flush()
    with EventPair() as pair:
        call()
    return pair
