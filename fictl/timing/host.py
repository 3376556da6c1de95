"""Timing by the host's clock, for calls that end before they return, such as emulated ones."""

from __future__ import annotations

import time

from fictl.timing.rotation import Rotation
from fictl.timing.timer import Timer


class Host(Timer):
    """Timer of the seconds until a call returns; it does not wait for a GPU."""

    name = "host"

    def time(self, rotation: Rotation) -> float:
        start = time.perf_counter()
        for call in rotation.calls:
            call()
        return (time.perf_counter() - start) / len(rotation.calls)
