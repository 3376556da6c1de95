"""Waves of blocks, and lanes that do nothing."""

from __future__ import annotations

import pytest

from fictl.profile.ncu.digest.grid import lanes, waves


def filled(launch, blocks: int, room: int = 8):
    return launch(grid=(blocks,), launch__sm_count=132, launch__occupancy_limit_warps=room)


@pytest.mark.parametrize(
    ("blocks", "said", "advised"),
    [
        (16, "16 blocks are 0.015 of a wave: 116 of 132 SMs have none", True),
        (264, "264 blocks are 0.25 of a wave: 132 SMs have room for 1056", True),
        (1056, "1.0 waves of blocks", False),
        (1162, "1.1 waves of blocks: the last is part-filled, up to 45 %", True),
        (21226, "20.1 waves of blocks", False),
    ],
)
def test_a_part_filled_wave_counts_where_there_are_few(launch, blocks, said, advised) -> None:
    remark = waves(filled(launch, blocks))
    assert remark.text.startswith(said)
    assert bool(remark.advice) == advised


def test_without_the_sms_only_the_part_is_said(launch) -> None:
    remark = waves(launch(launch__waves_per_multiprocessor=0.25))
    assert remark.text == "132 blocks are 0.25 of a wave"


def test_lanes_are_a_subject_only_where_many_do_nothing(launch) -> None:
    metric = "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"
    assert lanes(launch(**{metric: 29.4})) is None
    assert "11 of the 32 lanes" in lanes(launch(**{metric: 11.0})).text


def test_without_numbers_nothing_is_said(launch) -> None:
    assert waves(launch()) is None
    assert lanes(launch()) is None
