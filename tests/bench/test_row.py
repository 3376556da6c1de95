from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from fictl.bench.row import WRONG, Row
from fictl.timing.samples import Kernel


def test_a_row_is_the_same_after_json(make_row: Callable[..., Row]) -> None:
    row = make_row(kernels=(Kernel("k", 1e-5, 1),), passing=("bias",))
    assert Row.from_dict(json.loads(json.dumps(row.to_dict()))) == row


def test_rates_follow_from_the_median(make_row: Callable[..., Row]) -> None:
    row = make_row(samples=(1e-6, 2e-6, 3e-6), bytes=4000, flops=2_000_000)
    assert row.median == 2e-6
    assert row.gbps == pytest.approx(2.0)
    assert row.tflops == pytest.approx(1.0)


def test_without_samples_there_are_no_numbers(make_row: Callable[..., Row]) -> None:
    said = make_row(samples=()).to_dict()
    assert [said[name] for name in ("median", "stdrel", "low", "high", "gbps", "tflops")] == [
        None
    ] * 6


def test_the_larger_share_of_a_ceiling_is_what_bounds(make_row: Callable[..., Row]) -> None:
    row = make_row(samples=(1e-6,), bytes=2_000_000, flops=1_000_000)
    found = row.against({"copy": 4e12, "matmul": 8e14})
    assert (found.ceiling, found.of_ceiling) == ("copy", pytest.approx(0.5))


def test_without_a_ceiling_there_is_no_share(make_row: Callable[..., Row]) -> None:
    assert make_row().against({}).of_ceiling is None


def test_what_is_refused_keeps_no_times(make_row: Callable[..., Row]) -> None:
    row = make_row().against({"copy": 4e12}).refused(WRONG, "why")
    assert (row.samples, row.of_ceiling, row.status, row.note) == ((), None, WRONG, "why")
