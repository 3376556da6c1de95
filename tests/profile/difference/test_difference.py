"""Two profiles side by side: kernels are paired, and each number stands beside the one before."""

from __future__ import annotations

from typing import Any

import pytest

from fictl.errors import UsageError
from fictl.profile.difference.difference import ProfileDifference, difference
from fictl.profile.difference.saved import SCHEMA, cases


def kernel(name: str, seconds: float, **more: Any) -> dict[str, Any]:
    return {"name": name, "grid": [8, 1, 1], "block": [256, 1, 1], "seconds": seconds, **more}


def run(*kernels: dict[str, Any], case: str = "k-64", tool: str = "ncu 2025.3") -> dict[str, Any]:
    result = {"tool": tool, "kernels": [*kernels]}
    return {"schema": SCHEMA, "data": [{"op": "a/b/k", "case": case, "result": result}]}


def compared(before: dict[str, Any], after: dict[str, Any]) -> ProfileDifference:
    return difference(cases(before, "a"), cases(after, "b"))


def test_a_kernel_is_itself_whatever_its_template_and_its_launch() -> None:
    """Exactly alike first: two instances of one template must not be swapped."""
    before = run(kernel("n::K<4>", 1e-6), kernel("n::K<8>", 2e-6), kernel("Old", 5e-6))
    after = run(kernel("n::K<8>", 3e-6), kernel("n::K<16>", 1e-6), kernel("New", 7e-6))
    (case,) = compared(before, after).cases
    pairs = {
        (each.before.name if each.before else "", each.after.name if each.after else "")
        for each in case.kernels
    }
    assert pairs == {("n::K<8>", "n::K<8>"), ("n::K<4>", "n::K<16>"), ("Old", ""), ("", "New")}
    assert [each.name for each in case.kernels][:2] == ["New", "Old"]  # The largest change first.


def test_stalls_bytes_and_numbers_are_side_by_side() -> None:
    before = run(
        kernel(
            "K", 1e-6, stalls={"barrier": 10.0, "wait": 40.0}, bytes={"DRAM": 100.0}, registers=40
        )
    )
    after = run(
        kernel(
            "K",
            2e-6,
            stalls={"barrier": 31.0, "mio_throttle": 5.0},
            bytes={"DRAM": 150.0},
            registers=64,
        )
    )
    ((one,),) = (case.kernels for case in compared(before, after).cases)
    assert one.time.ratio == pytest.approx(2.0)
    assert [(each.name, each.before, each.after) for each in one.stalls] == [
        ("wait", 40.0, None),
        ("barrier", 10.0, 31.0),
        ("mio_throttle", None, 5.0),
    ]
    assert [(each.name, each.ratio) for each in one.bytes] == [("DRAM", 1.5)]
    assert [(each.name, each.after) for each in one.numbers] == [
        ("launches", 1.0),
        ("registers", 64.0),
    ]


def test_launches_count() -> None:
    """A kernel that is launched twice as often takes twice the time of a call."""
    before, after = (run({"name": "K", "launches": n, "median": 3e-6}) for n in (1, 2))
    ((one,),) = (case.kernels for case in compared(before, after).cases)
    assert one.time.ratio == pytest.approx(2.0)


def test_phases_of_events_are_rows_of_their_own() -> None:
    def recorded(load: float) -> dict[str, Any]:
        events = [{"name": "load", "count": 4, "median": load}, {"name": "mark", "count": 4}]
        return run({"name": "K", "begin": 0.0, "end": 900.0, "events": events}, tool="events")

    (case,) = compared(recorded(100.0), recorded(250.0)).cases
    ratios = {each.name: each.time.ratio for each in case.kernels}
    assert ratios == {"K · load": pytest.approx(2.5), "K": pytest.approx(1.0)}


def test_cases_of_one_run_alone_are_named() -> None:
    before, after = run(kernel("K", 1e-6)), run(kernel("K", 1e-6))
    before["data"] += run(case="old")["data"]
    after["data"] += run(case="new")["data"]
    result = compared(before, after)
    assert (result.only_before, result.only_after) == (("old",), ("new",))


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (run(case="a"), run(case="b"), "no case in common: a before, b after"),
        (run(tool="ncu 1"), run(tool="nsys 1"), "by ncu before, and by nsys after"),
        (run(), {"schema": "fictl.bench/1", "data": []}, "b has the schema 'fictl.bench/1'"),
        (run(), [1], "b has the schema None"),
        (run(), {"schema": SCHEMA, "data": None}, "b is of a run that failed"),
        (run(), {"schema": SCHEMA, "data": [{"op": 1}]}, "b is not a whole profile: data.0.op"),
        (run(), run(kernel("K", float("nan"))), "b is not a whole profile: data.0.result.kernels"),
        (run(), run(kernel("K", 1e308)), "b is not a whole profile: data.0.result.kernels"),
    ],
)
def test_what_cannot_be_compared_is_refused(before: Any, after: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        compared(before, after)
