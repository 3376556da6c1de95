"""A project of ops that a benchmark must not believe, and cases of it measured in this process."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fictl.bench.observer import BenchObserver
from fictl.bench.options import BenchOptions
from fictl.bench.result import BenchReport, Environment
from fictl.bench.row import Row
from fictl.bench.worker.measuring import Place, measure_case
from fictl.bench.worker.op_worker import of_folder
from fictl.project import OpFolder


@pytest.fixture
def measure(hostile: OpFolder) -> Callable[..., list[Row]]:
    """The rows of a function's smallest case, over few rounds."""

    def rows(function: str, case: str = "-64", **options: object) -> list[Row]:
        asked = BenchOptions(**{"rounds": 12, "case": case, **options})  # type: ignore[arg-type]
        place = Place("cpu", {}, BenchObserver())
        work = of_folder(hostile, [function], asked)
        return [row for each in work for row in measure_case(*each, asked, place)]

    return rows


@pytest.fixture
def make_row() -> Callable[..., Row]:
    """A row that was timed, but for what a test says otherwise."""

    def make(**changes: object) -> Row:
        facts: dict[str, object] = {
            "op": "hostile/doubling/doubling",
            "function": "right",
            "side": "fictl",
            "case": "right-64-float32",
            "sizes": {"n": 64},
            "dtype": "float32",
            "checked": True,
            "timer": "cupti",
            "cold": True,
            "copies": 4,
            "working_set": 512,
            "samples": (1e-5, 1.1e-5, 0.9e-5),
            "bytes": 512,
            "flops": 64,
        }
        return Row(**{**facts, **changes})  # type: ignore[arg-type]

    return make


@pytest.fixture
def make_report(make_row: Callable[..., Row]) -> Callable[..., BenchReport]:
    """Of an H200, with these rows."""

    def make(*rows: Row, **changes: object) -> BenchReport:
        state = {
            "name": "NVIDIA H200",
            "uuid": "GPU-1",
            "driver": "580.1",
            "sm_mhz": 1965,
            "max_sm_mhz": 1980,
            "mem_mhz": 3201,
            "watts": 300.0,
            "celsius": 40,
            "throttled": (),
            "others": (),
        }
        facts: dict[str, object] = {
            "device": "cuda",
            "timestamp": "2026-11-21T17:00:00+00:00",
            "fictl": "0.1.0",
            "commit": "3f2a91c0",
            "python": "3.11",
            "torch": "2.13",
            "cuda": "13.0",
            "before": state,
            "after": state,
            "ceilings": {"copy": 4e12, "read": 4.2e12, "matmul": 8e14},
        }
        environment = Environment(**{**facts, **changes})  # type: ignore[arg-type]
        return BenchReport(environment, rows or (make_row(),))

    return make
