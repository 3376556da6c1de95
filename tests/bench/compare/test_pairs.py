"""Which rows are compared, and with which statistics."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fictl.bench.compare.outcome import Untimed
from fictl.bench.compare.pairs import (
    Pairs,
    case_and_side,
    case_name,
    of_one_run,
    of_two_runs,
    pair,
)
from fictl.bench.row import FAILED, SKIPPED, WRONG, Row
from fictl.timing.verdict import Verdict


def paired(a: list[Row], b: list[Row]) -> Pairs:
    return pair(a, b, of_one_run(0.01), case_name, ("old", "new"))


def test_rows_of_one_case_are_compared(row) -> None:
    found = paired([row(20.0)], [row(21.0)])
    (case,) = found.cases
    assert (case.op, case.case) == ("my_kernels/elementwise/halve", "halve-8-float16")
    assert case.comparison.verdict is Verdict.SLOWER
    assert case.comparison.ratio == pytest.approx(1.05)
    assert case.b / case.a == pytest.approx(1.05)


def test_cases_that_only_one_has_are_listed(row) -> None:
    found = paired([row(case="x"), row(case="y")], [row(case="y"), row(case="z")])
    assert (found.only_a, found.only_b) == (("x",), ("z",))
    assert [case.case for case in found.cases] == ["y"]


def test_ops_of_one_case_name_are_different_cases(row) -> None:
    found = paired([row(op="p/f/one")], [row(op="p/f/two")])
    assert not found.cases


def test_a_plan_is_a_case_of_its_own(row) -> None:
    found = paired([row(), row(step="plan")], [row(), row(step="plan")])
    assert [case.case for case in found.cases] == ["halve-8-float16", "halve-8-float16 plan"]


def test_rounds_of_plans_need_not_match(row) -> None:
    short = row(step="plan", samples=row().samples[:15])
    assert paired([row(step="plan")], [short]).cases[0].comparison.verdict is Verdict.SAME


@pytest.mark.parametrize(("status", "fails"), [(WRONG, True), (FAILED, True), (SKIPPED, False)])
def test_what_was_not_timed_is_said(row, status: str, fails: bool) -> None:
    found = paired([row()], [row(samples=(), status=status, note="the reason")])
    assert not found.cases
    assert found.untimed == (Untimed("halve-8-float16", "new", "the reason", fails),)


def test_an_old_side_that_was_wrong_is_no_fault_of_the_new_one(row) -> None:
    found = paired([row(samples=(), status=WRONG)], [row()])
    assert found.untimed == (Untimed("halve-8-float16", "old", "wrong", False),)


def test_backends_are_compared_with_themselves(row) -> None:
    rows = [row(side="sm80", backend="sm80"), row(30.0, side="sm90", backend="sm90")]
    found = pair(rows, rows, of_two_runs(0.01), case_and_side, ("old", "new"))
    assert [case.case for case in found.cases] == ["halve-8-float16 sm80", "halve-8-float16 sm90"]
    assert {case.comparison.verdict for case in found.cases} == {Verdict.SAME}


def test_two_runs_may_differ_by_more_than_one(row) -> None:
    a, b = row(20.0), row(20.3)
    assert of_one_run(0.01)(a, b).verdict is Verdict.SLOWER
    assert of_two_runs(0.01)(a, b).verdict is Verdict.SAME


def test_what_could_not_be_timed_is_not_taken_for_missing(row) -> None:
    found = paired([], [row(samples=(), status=SKIPPED, note="too large")])
    assert (found.only_b, len(found.untimed)) == ((), 1)


def test_energy_is_compared_where_both_have_it(row) -> None:
    (case,) = paired([replace(row(), joules=0.3)], [replace(row(), joules=0.2)]).cases
    facts = case.to_dict()
    assert (facts["joules_a"], facts["joules_b"]) == (0.3, 0.2)


def test_energy_of_one_alone_is_not_compared(row) -> None:
    (case,) = paired([row()], [replace(row(), joules=0.2)]).cases
    assert "joules_a" not in case.to_dict()
