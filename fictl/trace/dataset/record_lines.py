"""Parsers of a dataset's lines."""

from __future__ import annotations

from pathlib import Path

from fictl.trace.documents.reading import NotReadable, parse_document
from fictl.trace.documents.record import Trace
from fictl.trace.documents.workload import Workload


def parse_workload(line: bytes | NotReadable, path: Path, number: int, definition: str) -> Trace:
    """Parse a workload; also a bare one of SOL-ExecBench, whose definition is beside it."""
    if isinstance(line, NotReadable):
        raise line
    if b'"workload"' in line:
        return parse_document(Trace, line, path, number)
    workload = parse_document(Workload, line, path, number)
    return Trace(definition=definition, workload=workload)


def parse_trace(line: bytes | NotReadable, path: Path, number: int) -> Trace:
    if isinstance(line, NotReadable):
        raise line
    return parse_document(Trace, line, path, number)
