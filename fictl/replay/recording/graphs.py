"""Graph: calls that a program captured as a CUDA graph; emulated, they run again one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

import torch


class Capturable(Protocol):
    """A call of a graph."""

    step: int

    @property
    def run(self) -> Callable[[], Any]: ...


T = TypeVar("T", bound=Capturable)


class Graph(Generic[T]):
    """Calls in order, and their results, which each replay writes anew."""

    def __init__(self, device: str) -> None:
        self.calls: list[T] = []
        self.results: dict[int, Any] = {}
        self._graph = torch.cuda.CUDAGraph() if device != "cpu" else None

    def add(self, call: T) -> None:
        self.calls.append(call)

    def capture(self) -> None:
        """Run the calls once, as programs warm up, and capture them."""
        self._run()
        if self._graph is not None:
            torch.cuda.synchronize()
            with torch.cuda.graph(self._graph):
                self._run()

    def replay(self) -> None:
        if self._graph is None:
            self._run()
        else:
            self._graph.replay()
            torch.cuda.synchronize()

    def _run(self) -> None:
        self.results = {call.step: call.run() for call in self.calls}
