"""The largest stalls, and what each means."""

from __future__ import annotations

import re

import pytest

from fictl.profile.ncu.digest.stalls import COLUMNS, MEANINGS, shares, stalls


def cycles(**by_name: float) -> dict[str, float]:
    pattern = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
    return {pattern.format(name): value for name, value in by_name.items()}


def samples(**by_name: float) -> dict[str, float]:
    return {f"smsp__pcsamp_warps_issue_stalled_{name}": count for name, count in by_name.items()}


def test_three_are_said_and_not_what_is_no_waiting(launch) -> None:
    counts = cycles(
        long_scoreboard=40, barrier=20, wait=15, mio_throttle=10, selected=10, not_selected=5
    )
    said = stalls(launch(**counts))
    assert [remark.facts["name"] for remark in said] == ["long_scoreboard", "barrier", "wait"]
    assert said[0].text == "long scoreboard 40 %: waiting for data from global or local memory"
    assert all(remark.advice for remark in said)


def test_a_small_share_is_not_worth_a_line(launch) -> None:
    assert len(stalls(launch(**cycles(long_scoreboard=90, barrier=4, selected=6)))) == 1


def test_at_the_ceiling_waiting_for_it_is_no_fault(launch) -> None:
    one = launch(**cycles(long_scoreboard=60, barrier=40))
    advice = {remark.facts["name"]: remark.advice for remark in stalls(one, at_ceiling=True)}
    assert "no fault" in advice["long_scoreboard"]
    assert "no fault" not in advice["barrier"]


def test_samples_do_where_cycles_were_not_collected(launch) -> None:
    counts = samples(warpgroup_arrive=30, no_instructions=10, long_scoreboard_not_issued=99)
    assert shares(launch(**counts)) == {"gmma": 75.0, "no_instruction": 25.0}


def test_an_unknown_stall_is_named_without_a_meaning(launch) -> None:
    (remark,) = stalls(launch(**cycles(something_new=1)))
    assert (remark.text, remark.advice) == ("something new 100 %", "")


@pytest.mark.parametrize("metrics", [{}, cycles(long_scoreboard=0)])
def test_without_numbers_nothing_is_said(launch, metrics) -> None:
    assert stalls(launch(**metrics)) == []


def test_every_stall_of_a_recorded_report_is_known(recorded) -> None:
    names = {*re.findall(r"issue_stalled_(\w+)_per_issue_active", recorded("raw.csv"))}
    assert names - {"misc", "selected", "not_selected"} <= {*MEANINGS}
    assert {*COLUMNS.values()} <= {*MEANINGS}
