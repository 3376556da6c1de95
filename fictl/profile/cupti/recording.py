"""Recording of the calls of a case, of one process or of one rank among several."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Protocol

from fictl.profile.cupti.profile import Profile
from fictl.profile.cupti.recorder import Recorder
from fictl.profile.cupti.work import ApiCall, Work
from fictl.timing.rotation import Rotation

# Seconds of work before the recording, in which the GPU's clocks rise.
WARM_UP_SECONDS = 0.1


class WorkRecorder(Protocol):
    """A context manager; `work` and `api` are there once `collect` has run."""

    @property
    def work(self) -> Sequence[Work]: ...

    @property
    def api(self) -> Sequence[ApiCall]: ...

    def __enter__(self) -> WorkRecorder: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

    def run(self, number: int, call: Callable[[], object]) -> None: ...

    def forget(self) -> None: ...

    def collect(self) -> None: ...

    def now(self) -> int: ...

    def wait(self) -> None: ...


def record(turn: Rotation, calls: int) -> Profile:
    """Record `calls` calls of a rotation by CUPTI, after a warm-up."""
    recorder = Recorder()
    warm_up(turn, recorder)
    with recorder:
        return record_calls(turn, calls, recorder)


def warm_up(
    turn: Rotation,
    recorder: WorkRecorder,
    longest: Callable[[float], float] = lambda seconds: seconds,
) -> None:
    """Call the rotation for some time.

    longest: makes one time of those of several ranks, which have to make equally many calls.
    """
    began = time.perf_counter()
    while True:
        _run(turn, range(len(turn.calls)))
        recorder.wait()
        if longest(time.perf_counter() - began) >= WARM_UP_SECONDS:
            break


def record_calls(turn: Rotation, calls: int, recorder: WorkRecorder) -> Profile:
    """Record calls inside of a recorder. Work between them that makes L2 cold belongs to no call."""
    # The first records cost more than others; the copy before the first call makes L2 cold.
    _run(turn, range(-1, 0))
    recorder.wait()
    recorder.forget()
    _run(turn, range(calls), recorder.run)
    recorder.wait()
    recorder.collect()
    return Profile(turn.name, [*recorder.work], [*recorder.api])


def _run(
    turn: Rotation,
    numbers: range,
    run: Callable[[int, Callable[[], object]], object] = lambda number, call: call(),
) -> None:
    for number in numbers:
        if turn.flush:
            turn.flush()
        run(number, turn.calls[number % len(turn.calls)])
