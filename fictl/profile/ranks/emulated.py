"""Recorder of calls on the emulated device, by the clock of the host."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType

from fictl.profile.cupti.work import ApiCall, EmulatedCall


class EmulatedRecorder:
    """Records each call as one span: its kernels run on the host, and have ended when it returns."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.work: list[EmulatedCall] = []
        self.api: list[ApiCall] = []

    def __enter__(self) -> EmulatedRecorder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

    def run(self, number: int, call: Callable[[], object]) -> None:
        start = self.now()
        call()
        span = (start, self.now())
        facts = {"correlation": number + 1, "device": 0, "stream": 1, "graph": 0}
        self.work.append(EmulatedCall(self._name, *span, number, **facts))

    def forget(self) -> None:
        self.work.clear()

    def collect(self) -> None:
        """Leave the records as they are: they are complete."""

    def now(self) -> int:
        return time.time_ns()

    def wait(self) -> None:
        """Return at once: calls have ended when they return."""
