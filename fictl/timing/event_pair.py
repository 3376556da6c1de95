"""The time on the GPU between two points of a stream."""

from __future__ import annotations

from typing import Any


class EventPair:
    """Context manager that times the work enqueued in its body, by two CUDA events."""

    def __init__(self) -> None:
        import torch

        cuda: Any = torch.cuda
        self._begin, self._end = (cuda.Event(enable_timing=True) for _ in range(2))

    def __enter__(self) -> EventPair:
        self._begin.record()
        return self

    def __exit__(self, *raised: object) -> None:
        self._end.record()

    def seconds(self) -> float:
        """Wait for the second event and return the time between the two."""
        self._end.synchronize()
        return float(self._begin.elapsed_time(self._end)) / 1e3
