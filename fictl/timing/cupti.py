"""Timing by CUPTI: the GPU's own timestamps of the beginning and end of each kernel."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from types import TracebackType

from fictl.timing.activity import Activity, Recording
from fictl.timing.rotation import Rotation
from fictl.timing.samples import Kernel
from fictl.timing.statistics import median
from fictl.timing.timer import Timer, Unusable, launched_nothing
from fictl.toolchain.kernel_name import readable

_NS = 1e-9
_MOST_LOST = 3


class Cupti(Timer):
    """Timer that measures a call from the beginning of its first kernel to the end of its last."""

    name = "cupti"

    def __init__(self) -> None:
        self._recording = Recording()
        self._launches: defaultdict[Rotation, defaultdict[str, list[float]]]
        self._launches = defaultdict(lambda: defaultdict(list))
        self._calls: Counter[Rotation] = Counter()
        self._lost = 0

    def __enter__(self) -> Timer:
        self._recording.__enter__()
        try:
            self._try()
        except BaseException:
            self._recording.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._recording.__exit__(kind, error, traceback)

    def time(self, rotation: Rotation) -> float:
        while (done := self._round(rotation)) is None:
            self._lost += 1
            if self._lost > _MOST_LOST:
                raise Unusable(f"CUPTI lost records of {rotation.name} in {self._lost} rounds")
        for activity in done:
            self._launches[rotation][activity.name].append((activity.end - activity.start) * _NS)
        self._calls[rotation] += len(rotation.calls)
        return sum(spans(done)) / len(rotation.calls)

    def kernels(self, rotation: Rotation) -> tuple[Kernel, ...]:
        """Return the kernels of a rotation, in the order of their first launches."""
        calls = self._calls[rotation]
        return tuple(
            Kernel(readable(name), median(seconds), round(len(seconds) / calls))
            for name, seconds in self._launches[rotation].items()
        )

    def remark(self) -> str:
        return f"{self._lost} rounds thrown away: CUPTI lost records" if self._lost else ""

    def _round(self, rotation: Rotation) -> list[Activity] | None:
        """Run one round and return its records, sorted by start; None if a call has no record."""
        import torch

        for number, call in enumerate(rotation.calls):
            if rotation.flush:
                rotation.flush()
            self._recording.run(number, call)
        torch.cuda.synchronize()
        done = self._recording.take()
        if done is not None and not done:
            raise launched_nothing(rotation)
        complete = done and len({activity.call for activity in done}) == len(rotation.calls)
        return sorted(done, key=lambda one: one.start) if done and complete else None

    def _try(self) -> None:
        """Record one kernel as a test: CUPTI without permission may report no error and record
        nothing.
        """
        import torch

        one = torch.zeros(1, device="cuda")
        torch.cuda.synchronize()
        self._recording.take()
        self._recording.run(0, lambda: one.add_(1))
        torch.cuda.synchronize()
        if not self._recording.take():
            raise Unusable("CUPTI records no kernel of this process", "fictl doctor")


def spans(activities: Iterable[Activity]) -> list[float]:
    """Return the seconds of each call, from its first beginning to its last end, in call order.

    With dependent launches, a call may begin before the previous one has ended. It is then counted
    from that end: the time in which both ran belongs to the earlier call.
    """
    of_call: defaultdict[int, list[Activity]] = defaultdict(list)
    for activity in activities:
        of_call[activity.call].append(activity)
    seconds, ended = [], 0
    for _, parts in sorted(of_call.items()):
        begin, end = _extent(parts)
        seconds.append(max(0, end - max(begin, ended)) * _NS)
        ended = max(ended, end)
    return seconds


def _extent(parts: Sequence[Activity]) -> tuple[int, int]:
    return min(part.start for part in parts), max(part.end for part in parts)
