"""The choice of blocks."""

from __future__ import annotations

import pytest

from fictl.errors import UsageError
from fictl.profile.events.blocks import MOST_WARPS, Blocks


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("7", range(7, 8)),
        ("0:4", range(4)),
        ("90:", range(90, 100)),
        (":3", range(3)),
        ("::9", range(0, 100, 9)),
        ("10:200:30", range(10, 100, 30)),
        ("all", range(100)),
        ("", range(100)),
    ],
)
def test_it_is_written_as_a_slice(text: str, chosen: range) -> None:
    assert Blocks.parse(text).of(100, 4) == chosen


@pytest.mark.parametrize("text", ["x", "-1", "1:2:0", ":", "::", "1,2", "1:2:3:4"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a choice of blocks"):
        Blocks.parse(text)


@pytest.mark.parametrize(("grid", "groups"), [(1, 1), (16384, 8), (131072, 8), (10**9, 32)])
def test_without_a_choice_it_is_all_of_a_small_grid_and_a_part_of_a_large_one(
    grid: int, groups: int
) -> None:
    chosen = Blocks().of(grid, groups)
    assert len(chosen) * groups <= MOST_WARPS + groups
    assert chosen.step == 1 or chosen.step % 2 == 1
    assert chosen.step == 1 or len(chosen) * groups > MOST_WARPS / 3
