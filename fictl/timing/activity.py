"""CUPTI's records of what each call gives the GPU to do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fictl.timing.tracing import Tracing

_DEVICE_WORK = ("CONCURRENT_KERNEL", "MEMCPY", "MEMSET")


@dataclass(frozen=True)
class Activity:
    """A kernel, copy or fill that ran on the GPU, in nanoseconds; `call` is what launched it.

    -1 is work that no call of this thread's launched.
    """

    name: str
    start: int
    end: int
    call: int


class Recording(Tracing):
    """A recording of as little as timing needs: every launch pays for what a record costs."""

    # An external correlation is recorded with the record of the API call that it is for.
    kinds = (*_DEVICE_WORK, "RUNTIME", "DRIVER", "EXTERNAL_CORRELATION")

    def __init__(self) -> None:
        super().__init__()
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
        """The finished work of the calls since the last time; None where records were lost."""
        done = self.take_all()
        return None if done is None else [one for one in done if one.call >= 0]

    def take_all(self) -> list[Activity] | None:
        """The same, with work that belongs to no call."""
        dropped = self.flush()
        work, self._work = self._work, []
        calls, self._call_of = self._call_of, {}
        if dropped:
            return None
        return [
            Activity(name, start, end, calls.get(correlation, -1))
            for correlation, name, start, end in work
        ]
