"""Records by CUPTI of the GPU work that each call launches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fictl.timing.tracing import Tracing

_DEVICE_WORK = ("CONCURRENT_KERNEL", "MEMCPY", "MEMSET")


@dataclass(frozen=True)
class Activity:
    """A kernel, copy or fill that ran on the GPU; times in nanoseconds.

    call: number of the call that launched it; -1 if no call of this thread did.
    """

    name: str
    start: int
    end: int
    call: int


class Recording(Tracing):
    """Recording of the few kinds that timing needs, because each record slows down a launch."""

    # CUPTI records an external correlation only together with the record of its API call.
    kinds: tuple[str, ...] = (*_DEVICE_WORK, "RUNTIME", "DRIVER", "EXTERNAL_CORRELATION")

    def __init__(self, calls: bool = True) -> None:
        """Leave out which call launched what without `calls`: records of API calls are many."""
        super().__init__()
        if not calls:
            self.kinds = _DEVICE_WORK
        self._work: list[tuple[int, str, int, int]] = []
        self._call_of: dict[int, int] = {}
        self._names: dict[int, str] = {}
        self._correlation = -1

    def __enter__(self) -> Recording:
        super().__enter__()
        return self

    def prepare(self) -> None:
        self._names = {self.number(name): name.lower() for name in _DEVICE_WORK}
        self._correlation = self.number("EXTERNAL_CORRELATION")

    def hear(self, records: Iterable[Any]) -> None:
        correlation, names, call_of = self._correlation, self._names, self._call_of
        for record in records:
            kind = int(record.kind)
            if kind == correlation:
                call_of[record.correlation_id] = record.external_id
            elif kind in names:
                name = getattr(record, "name", names[kind])
                self._work.append((record.correlation_id, name, record.start, record.end))

    def take(self) -> list[Activity] | None:
        """Return the finished work of all calls since the last take; None if records were lost."""
        done = self.take_all()
        return None if done is None else [one for one in done if one.call >= 0]

    def take_all(self) -> list[Activity] | None:
        """Do the same, and include work that no numbered call launched."""
        dropped = self.flush()
        work, self._work = self._work, []
        calls, self._call_of = self._call_of, {}
        if dropped:
            return None
        return [
            Activity(name, start, end, calls.get(correlation, -1))
            for correlation, name, start, end in work
        ]
