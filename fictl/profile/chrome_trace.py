"""Trace files of the Trace Event Format, which ui.perfetto.dev and chrome://tracing open."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fictl.errors import SetupError
from fictl.paths import write_atomic

_Event = dict[str, Any]


class ChromeTrace:
    """Trace file in the making. Times are whole nanoseconds since `base`, as the format's
    microseconds are floats.

    A track is a process number and a thread number in it; both are named when first used.
    """

    def __init__(self, base: int, facts: Mapping[str, Any]) -> None:
        self._base = base
        self._facts = {**facts, "base_ns": base}
        self._events: list[_Event] = []

    def process(self, number: int, name: str) -> None:
        """Name a process. Viewers show processes in the order of these calls."""
        order = sum(event["name"] == "process_name" for event in self._events)
        self._about("process_name", number, 0, name=name)
        self._about("process_sort_index", number, 0, sort_index=order)

    def thread(self, process: int, number: int, name: str) -> None:
        self._about("thread_name", process, number, name=name)
        self._about("thread_sort_index", process, number, sort_index=number)

    def span(self, track: tuple[int, int], name: str, start: int, end: int, **facts: Any) -> None:
        """Add an event with a duration."""
        self._add("X", track, start, name=name, dur=max(0, end - start) / 1e3, args=facts)

    def instant(self, track: tuple[int, int], name: str, at: int, **facts: Any) -> None:
        self._add("i", track, at, name=name, s="t", args=facts)

    def arrow(
        self, number: int, begin: tuple[int, int], at: int, end: tuple[int, int], to: int
    ) -> None:
        """Draw an arrow from the span at time `at` on track `begin` to the span at time `to` on
        `end`.
        """
        both = {"id": number, "cat": "launch", "name": "launch"}
        self._add("s", begin, at, **both)
        self._add("f", end, to, bp="e", **both)

    def save(self, path: Path) -> None:
        # Viewers expect an outer span before the spans inside it.
        order = sorted(self._events, key=lambda event: (event.get("ts", -1), -event.get("dur", 0)))
        document = {"traceEvents": order, "displayTimeUnit": "ns", "otherData": self._facts}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, json.dumps(document))
        except OSError as error:
            raise SetupError(
                f"the trace {path} cannot be written: {error.strerror}", "name another place"
            ) from error

    def _about(self, what: str, process: int, thread: int, **facts: Any) -> None:
        self._events.append({"ph": "M", "name": what, "pid": process, "tid": thread, "args": facts})

    def _add(self, phase: str, track: tuple[int, int], at: int, **fields: Any) -> None:
        process, thread = track
        when = (at - self._base) / 1e3
        self._events.append({"ph": phase, "pid": process, "tid": thread, "ts": when, **fields})
