"""Results that were not measured alike are not compared."""

from __future__ import annotations

import pytest

from fictl.bench.compare.conditions import differences, require_alike, where
from fictl.errors import UsageError


def test_what_was_measured_alike_differs_in_nothing(row, report) -> None:
    assert not list(differences(report(row()), report(row())))


def test_a_boost_clock_may_wander(row, report) -> None:
    assert not list(differences(report(row()), report(row(), sm_mhz=1965)))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"gpu": "NVIDIA H100"}, "GPU NVIDIA H200 and NVIDIA H100"),
        ({"sm_mhz": 1410}, "clocks of 1980 and 1410 MHz"),
        ({"device": "emu"}, "device cuda and emu"),
    ],
)
def test_another_machine_is_a_difference(row, report, changes: dict, said: str) -> None:
    assert list(differences(report(row()), report(row(), **changes))) == [said]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"timer": "events"}, "cupti, cold L2 and events, cold L2"),
        ({"cold": False}, "cupti, cold L2 and cupti, warm L2"),
    ],
)
def test_another_way_of_timing_is_a_difference(row, report, changes: dict, said: str) -> None:
    found = list(differences(report(row()), report(row(**changes))))
    assert found == [f"halve-8-float16 fictl timed by {said}"]


def test_how_a_baseline_was_timed_does_not_matter(row, report) -> None:
    theirs = row(side="torch", is_baseline=True)
    warm = row(side="torch", is_baseline=True, cold=False)
    assert not list(differences(report(theirs), report(warm)))


def test_one_case_says_what_is_to_be_said_of_all(row, report) -> None:
    old = report(row(case="x"), row(case="y"))
    new = report(row(case="x", cold=False), row(case="y", cold=False))
    assert len(list(differences(old, new))) == 1


def test_a_refusal_names_both_and_the_values(row, report) -> None:
    with pytest.raises(UsageError, match="clocks of 1980 and 1410 MHz") as error:
        require_alike(report(row()), report(row(), sm_mhz=1410), ("old.json", "new.json"))
    assert error.value.message.startswith("old.json and new.json were not measured alike")
    assert "--force" in error.value.hint


def test_where_names_the_gpu_and_its_clock(report) -> None:
    assert where(report().environment) == "NVIDIA H200 · 1980 MHz"


def test_where_says_that_it_was_emulated(report) -> None:
    assert where(report(device="emu").environment) == "emulated device"
