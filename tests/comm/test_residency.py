"""Blocks of a waiting kernel: as many on every rank as all GPUs hold."""

from __future__ import annotations

from typing import Any

import pytest

from fictl.comm.residency import blocks_of_each, ranks_of_a_gpu


def gpu(uuid: str, multiprocessors: int = 132) -> dict[str, Any]:
    return {"uuid": uuid, "multiprocessors": multiprocessors, "capability": "9.0"}


@pytest.mark.parametrize(
    ("gpus", "blocks"),
    [
        ([gpu("a"), gpu("b")], 132),
        ([gpu("a"), gpu("b", 66), gpu("c", 114)], 66),  # a part of a GPU, as MPS gives
        ([gpu("a"), gpu("a"), gpu("b")], 66),
        ([gpu("a", 4)] * 8, 1),
        ([gpu("", 256), gpu("", 256)], 256),  # emulated: all of any grid are resident
    ],
)
def test_all_ranks_launch_what_fits_on_each_gpu(gpus: list[dict[str, Any]], blocks: int) -> None:
    assert blocks_of_each(gpus) == blocks


def test_ranks_that_share_a_gpu_are_counted_by_what_it_is() -> None:
    assert ranks_of_a_gpu([gpu("a"), gpu("b"), gpu("a")]) == 2
    assert ranks_of_a_gpu([gpu(""), gpu("")]) == 1
