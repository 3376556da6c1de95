"""Cases recorded by two emulated ranks, and what happens when one of them does not do its part."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fictl.bench.options import BenchOptions
from fictl.errors import FictlError, UsageError
from fictl.profile.chosen import requests
from fictl.profile.ranks.result import RanksProfile
from fictl.profile.ranks.run_ranks import merged, profile
from fictl.profile.request import ProfileRequest

pytestmark = pytest.mark.usefixtures("ranked")


def asked(op: str, calls: int = 3, **options: object) -> ProfileRequest:
    chosen = BenchOptions(case="256", **options)  # type: ignore[arg-type]
    (request,) = requests([op], chosen, calls, Path("profiles"), 2)
    return request


def profiled(op: str, **options: object) -> RanksProfile:
    return profile(asked(op, **options))


def test_two_ranks_are_on_one_timeline() -> None:
    result = profiled("gathering")
    assert (result.name, result.recorder) == ("gathering-2x256-float32", "host")
    assert [len(row.seconds) for row in result.rows] == [3, 3]
    assert sum(row.slowest for row in result.rows) == sum(row.latest for row in result.rows) == 3
    assert not result.clock.moved
    assert result.trace == "profiles/gathering-2x256-float32.2-gpus.trace.json"
    events = json.loads(Path(result.trace).read_text(encoding="utf-8"))["traceEvents"]
    calls = {(event["pid"], event["name"]) for event in events if event["name"][:5] == "call "}
    assert calls == {(rank, f"call {number}") for rank in (1, 2) for number in range(3)}


def test_a_rank_that_dies_is_named() -> None:
    with pytest.raises(FictlError, match="rank 1 ended with SIGKILL"):
        profiled("dying")


def test_a_rank_that_does_not_come_is_named() -> None:
    with pytest.raises(FictlError, match="rank 1 did not call all_reduce"):
        profiled("absent")


def test_an_error_of_one_rank_is_in_its_name() -> None:
    with pytest.raises(FictlError, match=r"^rank 1: ValueError: planted") as caught:
        profiled("failing")
    assert "fictl test" in caught.value.hint


def test_ranks_that_do_not_end_are_killed() -> None:
    with pytest.raises(FictlError, match=r"did not end within 0\.5 s, and were killed"):
        profiled("right", timeout=0.5)


def test_an_op_of_one_process_is_refused(hostile) -> None:
    with pytest.raises(UsageError, match="is called by one process, not by several ranks"):
        requests([str(hostile)], BenchOptions(), 3, Path("profiles"), 2)


def test_a_rank_that_records_nothing_is_named(recording) -> None:
    both = [recording((0, 10), (20, 30), (40, 50)), recording()]
    with pytest.raises(FictlError, match="rank 1 recorded nothing: its 3 calls ran nothing"):
        merged(both, asked("right"), Path("t.json"))


def test_a_rank_with_fewer_calls_is_named(recording) -> None:
    whole = recording((0, 10), (20, 30), (40, 50))
    less = replace(whole, kernels=(whole.kernels[0], whole.kernels[2]))
    with pytest.raises(FictlError, match="rank 1 recorded 2 of 3 calls: call 1 ran nothing"):
        merged([whole, less], asked("right"), Path("t.json"))


def test_records_by_another_clock_are_refused(recording) -> None:
    spans = ((0, 10), (20, 30), (40, 50))
    whole = recording(*spans)
    other = replace(recording(*spans, offset=0), clock=whole.clock)
    with pytest.raises(FictlError, match="rank 1: work at 0 to 10000 ns is outside"):
        merged([whole, other], asked("right"), Path("t.json"))
    assert not Path("t.json").exists()
