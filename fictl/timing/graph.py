"""Timing of a CUDA graph of all calls between two events, without the host's launch overhead."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from fictl.timing.event_pair import EventPair
from fictl.timing.lead import lead
from fictl.timing.rotation import Rotation
from fictl.timing.timer import Timer, TooShort, Unusable, launched_nothing


@dataclass(frozen=True)
class _Replay:
    graph: Any
    host_seconds: float

    def seconds(self) -> float:
        lead(self.host_seconds)
        with EventPair() as pair:
            self.graph.replay()
        return pair.seconds()


@dataclass(frozen=True)
class _Captured:
    """A captured rotation; `flushes` is the same replay without the calls, if they are flushed."""

    work: _Replay
    flushes: _Replay | None


class Graph(Timer):
    """Timer that adds the gap between two kernels, about 1 us."""

    name = "graph"

    def __init__(self) -> None:
        self._captured: dict[Rotation, _Captured] = {}

    def time(self, rotation: Rotation) -> float:
        if rotation not in self._captured:
            self._captured[rotation] = _capture(rotation)
        captured = self._captured[rotation]
        seconds = captured.work.seconds()
        if captured.flushes:
            seconds -= captured.flushes.seconds()
        if seconds <= 0:
            raise TooShort(f"{rotation.name} is too short to be told from the flush before it")
        return seconds / len(rotation.calls)


def _capture(rotation: Rotation) -> _Captured:
    for call in rotation.calls:  # A first call may load a module, which cannot be captured.
        call()
    flush = (rotation.flush,) if rotation.flush else ()
    work = [step for call in rotation.calls for step in (*flush, call)]
    return _Captured(
        _replay(rotation, work), _replay(rotation, flush * len(rotation.calls)) if flush else None
    )


def replay_of(rotation: Rotation) -> Callable[[], object]:
    """Return the replay of a CUDA graph of all calls of a rotation, without its flush."""
    for call in rotation.calls:
        call()
    replay: Callable[[], object] = _replay(rotation, rotation.calls).graph.replay
    return replay


def _replay(rotation: Rotation, steps: Sequence[Callable[[], object]]) -> _Replay:
    import torch

    cuda: Any = torch.cuda
    graph = cuda.CUDAGraph()
    # Why a new stream: torch uses one stream for all captures, on the device of the first.
    recording = cuda.graph(graph, stream=cuda.Stream())
    try:
        with warnings.catch_warnings(record=True) as caught, recording:
            warnings.simplefilter("always")
            for step in steps:
                step()
    except Exception as error:
        cause = error.__context__ or error  # Ending a failed capture fails as well.
        first = next(iter(str(cause).strip().splitlines()), type(cause).__name__)
        raise Unusable(f"{rotation.name} does not go into a CUDA graph: {first}") from error
    if any("graph is empty" in str(warning.message).lower() for warning in caught):
        raise launched_nothing(rotation)
    return _Replay(graph, _host_seconds(graph))


def _host_seconds(graph: Any) -> float:
    """Return the host time of the second replay: the first also uploads the graph."""
    import torch

    for _ in range(2):
        torch.cuda.synchronize()
        start = time.perf_counter()
        graph.replay()
        took = time.perf_counter() - start
    torch.cuda.synchronize()
    return took
