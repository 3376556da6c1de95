"""Traces of a dataset, without lines broken by a crash or another tool."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fictl.trace import Trace, TraceSet
    from fictl.trace.documents.reading import NotReadable


def readable_traces(
    dataset: TraceSet, definition: str | None, unreadable: Callable[[NotReadable], object]
) -> Iterator[Trace]:
    """Yield the traces of a definition; broken lines go to `unreadable`."""
    from fictl.trace.dataset.record_lines import parse_trace
    from fictl.trace.documents.reading import NotReadable, lines_of

    for path in dataset.files.traces(definition):
        for number, line in lines_of(path):
            try:
                trace = parse_trace(line, path, number)
            except NotReadable as error:
                unreadable(error)
                continue
            if definition in (None, trace.definition):
                yield trace
