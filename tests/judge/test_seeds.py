"""Seeds of turns: reproducible, and none used twice."""

from __future__ import annotations

from fictl.judge.seeds import Seeds


def test_each_seed_is_used_once_and_found_again() -> None:
    seeds = Seeds(7, "w")
    taken = [*seeds.take(3), *seeds.take(4)]
    assert len({*taken}) == 7
    assert Seeds(7, "w").take(7) == taken
    assert not {*Seeds(8, "w").take(7)} & {*taken}
    assert not {*Seeds(7, "v").take(7)} & {*taken}
    assert all(0 <= seed < 1 << 63 for seed in taken)
