"""Ops in two revisions, measured: a process for each op, so that a fault of one leaves the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fictl.bench import run
from fictl.bench.observer import Observer
from fictl.bench.options import BenchOptions
from fictl.bench.result import Report


@dataclass(frozen=True)
class Request:
    """An op folder of both: what people call it, and `label -> op.py`, the newer one first."""

    op: str
    sides: Mapping[str, str]
    functions: tuple[str, ...]


def measured(requests: Sequence[Request], options: BenchOptions, observer: Observer) -> Report:
    return run.measured([_said(each) for each in requests], options, observer)


def _said(request: Request) -> run.Request:
    said = {"op": request.op, "sides": dict(request.sides), "functions": request.functions}
    return run.Request(request.op, said, "fictl.bench.compare.both")
