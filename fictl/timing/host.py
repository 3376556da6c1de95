"""Timing by the host's clock: calls that have ended when they return, as emulated ones have."""

from __future__ import annotations

import time

from fictl.timing.rotation import Rotation
from fictl.timing.timer import Timer


class Host(Timer):
    """The seconds until a call returns; it waits for no GPU."""

    name = "host"

    def time(self, rotation: Rotation) -> float:
        start = time.perf_counter()
        for call in rotation.calls:
            call()
        return (time.perf_counter() - start) / len(rotation.calls)
