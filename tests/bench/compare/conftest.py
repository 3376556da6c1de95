"""Rows and reports of which only what a test says is its own; a project with a history."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from fictl.bench.result import BenchReport, Environment
from fictl.bench.row import Row

# A percent of noise that is the same each time.
_NOISE = [1 + 0.01 * ((7 * i) % 20 - 10) / 10 for i in range(20)]


@pytest.fixture
def row() -> Callable[..., Row]:
    """`micros` is the median that it comes to, over 20 rounds."""

    def make(micros: float = 20.0, case: str = "halve-8-float16", **changes: Any) -> Row:
        samples = tuple(micros * 1e-6 * noise for noise in _NOISE)
        made = Row(
            "my_kernels/elementwise/halve",
            "halve",
            "fictl",
            case,
            {"n": 8},
            "float16",
            timer="cupti",
            cold=True,
            samples=samples,
        )
        return replace(made, **changes)

    return make


@pytest.fixture
def report() -> Callable[..., BenchReport]:
    def make(
        *rows: Row, gpu: str = "NVIDIA H200", sm_mhz: int = 1980, **changes: Any
    ) -> BenchReport:
        state = {"name": gpu, "sm_mhz": sm_mhz, "driver": changes.pop("driver", "580.1")}
        made = Environment(
            "cuda",
            "2026-11-21T16:00:00+00:00",
            "0.1.0",
            "3f2a91c",
            "3.11",
            "2.13",
            "13.0",
            before=state,
            after=state,
        )
        return BenchReport(replace(made, **changes), rows)

    return make
