from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from fictl.bench.observer import BenchObserver
from fictl.bench.options import BenchOptions
from fictl.bench.row import EMULATED, FAILED, SKIPPED, WRONG, Row
from fictl.bench.worker.measuring import Place, measure_case
from fictl.bench.worker.op_worker import of_folder
from fictl.bench.worker.sides import baseline
from fictl.project import OpFolder
from fictl.timing.timer import TooShort

Measure = Callable[..., list[Row]]


def test_what_is_right_is_timed_and_checked(measure: Measure) -> None:
    (row,) = measure("right")
    assert (row.status, row.checked, len(row.samples), row.timer) == (EMULATED, True, 12, "host")
    assert (row.bytes, row.flops) == (512, 64)


def test_what_fails_its_reference_is_never_timed(measure: Measure) -> None:
    (row,) = measure("wrong")
    assert (row.status, row.samples) == (WRONG, ())
    assert row.note.startswith("not timed: out: 64 of 64 elements differ")


def test_what_writes_nothing_is_caught(measure: Measure) -> None:
    (row,) = measure("silent")
    assert (row.status, row.note) == (WRONG, "not timed: it wrote nothing to out")


def test_what_writes_nothing_is_caught_without_a_reference_too(measure: Measure) -> None:
    (row,) = measure("silent", refcheck=False)
    assert row.status == WRONG


def test_what_the_timer_asked_for_cannot_tell_from_nothing_fails_alone(
    measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_short(*args: object, **kwargs: object) -> None:
        raise TooShort("graph: fictl is too short")

    monkeypatch.setattr("fictl.timing.measure.measure", too_short)
    (row,) = measure("right", timer="graph")
    assert (row.status, row.note) == (FAILED, "graph: fictl is too short")


def test_a_nan_that_the_reference_lacks_is_caught(measure: Measure) -> None:
    (row,) = measure("spoilt")
    assert row.status == WRONG
    assert "1 of 64 elements differ" in row.note


@pytest.mark.parametrize("function", ["remembering", "returning"])
def test_what_is_fast_on_repeated_inputs_only_is_caught(measure: Measure, function: str) -> None:
    (row,) = measure(function)
    assert (row.status, row.samples) == (WRONG, ())
    assert row.note.startswith("its times do not count: after them, out: ")


def test_what_stops_working_while_it_is_timed_is_caught(measure: Measure) -> None:
    (row,) = measure("late")
    assert row.note == "its times do not count: after them, it wrote nothing to out"


def test_what_changes_its_input_is_checked_by_a_call_on_new_ones(measure: Measure) -> None:
    (row,) = measure("inplace")
    assert (row.status, row.checked, row.bytes) == (EMULATED, True, 512)


def test_the_plan_of_a_class_has_a_row_of_its_own(measure: Measure) -> None:
    run, plan = measure("Planned")
    assert (run.step, plan.step) == ("run", "plan")
    assert plan.samples
    assert (plan.bytes, plan.timer) == (None, "host")


def test_baselines_share_the_rounds_of_the_op(measure: Measure) -> None:
    ours, torch, prepared = measure("right", baselines=("torch", "prepared"))
    assert (torch.is_baseline, torch.side, torch.checked) == (True, "torch", True)
    assert len(ours.samples) == len(torch.samples) == len(prepared.samples)


def test_a_baseline_that_rounds_more_than_the_op_may_is_timed_with_a_mark(
    hostile: OpFolder,
) -> None:
    options = BenchOptions(case="-64", rounds=3)
    ((subject, case, (own,)),) = of_folder(hostile, ["right"], options)
    rounding = baseline("torch", lambda input: input * (2 + 3e-5))
    place = Place("cpu", {}, BenchObserver())
    ours, torch = measure_case(subject, case, [own, rounding], options, place)
    assert (ours.off, torch.status, len(torch.samples)) == (0, EMULATED, 3)
    assert 1 < torch.off < 3


def test_a_baseline_that_is_wrong_is_not_timed_and_the_op_is(measure: Measure) -> None:
    ours, tripled = measure("right", baselines=("tripled",))
    assert (ours.status, tripled.status, tripled.samples) == (EMULATED, WRONG, ())


def test_a_baseline_that_is_not_installed_is_skipped(measure: Measure) -> None:
    _, absent = measure("right", baselines=("absent",))
    assert absent.status == SKIPPED
    assert absent.note == "not installed: No module named 'a_package_that_nobody_has'"


def test_a_baseline_that_raises_has_failed(measure: Measure) -> None:
    rows = measure("Planned", baselines=("tripled",))
    assert [row.status for row in rows] == [EMULATED, EMULATED, FAILED]
    assert rows[-1].note.startswith("TypeError: ")


def test_baselines_are_not_timed_where_the_op_is_wrong(measure: Measure) -> None:
    (row,) = measure("wrong", baselines=("torch",))
    assert row.side == "fictl"


def test_what_is_too_large_to_emulate_is_skipped(measure: Measure) -> None:
    (row,) = measure("right", case="1048576")
    assert (row.status, row.note) == (SKIPPED, "too large for the emulated device")


def test_an_op_that_is_not_for_the_device_is_skipped(hostile: OpFolder) -> None:
    ((subject, case, sides),) = of_folder(hostile, ["right"], BenchOptions(case="-64"))
    elsewhere = replace(subject, devices=("cuda",))
    (row,) = measure_case(elsewhere, case, sides, BenchOptions(), Place("cpu", {}, BenchObserver()))
    assert row.note == "it is for cuda, not for emu"


def test_without_a_check_the_row_says_so(measure: Measure) -> None:
    (row,) = measure("right", refcheck=False)
    assert (row.checked, row.note) == (False, "not checked")


def test_the_hosts_share_is_measured_on_request(measure: Measure) -> None:
    (row,) = measure("right", host=True)
    assert row.host_seconds
    assert row.host_seconds > 0


def test_rounds_are_heard_of(hostile: OpFolder) -> None:
    class Listening(BenchObserver):
        def __init__(self) -> None:
            self.heard: list[int] = []

        def round(self, number: int) -> None:
            self.heard.append(number)

    observer = Listening()
    options = BenchOptions(case="-64", rounds=5)
    ((subject, case, sides),) = of_folder(hostile, ["right"], options)
    list(measure_case(subject, case, sides, options, Place("cpu", {}, observer)))
    assert observer.heard == [1, 2, 3, 4, 5]
