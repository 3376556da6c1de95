"""Two clocks made one: that of each SM, and the coarse one that all of them read."""

from __future__ import annotations

import pytest

from fictl.profile.events.clocks import clocks

HERTZ = 1.98  # cycles a ns
START = 1_795_312_100_123_456_789


def anchors(tick: int, seconds: float, sms: int = 4, each: int = 200) -> list[tuple[int, int, int]]:
    """As a GPU reads them: SM clocks far apart, the common one cut to its ticks."""
    made = []
    for sm in range(sms):
        for i in range(each):
            ns = (i + sm / sms + i * 0.618 % 1) * seconds * 1e9 / each
            time = (START + int(ns)) // tick * tick
            made.append((sm, time, round(ns * HERTZ) + sm * 10**12))
    return made


@pytest.mark.parametrize("tick", [1, 32, 1024])
def test_times_of_all_sms_are_better_than_a_tick(tick: int) -> None:
    known = clocks(anchors(tick, 1e-4), anchors(tick, 1e-2))
    for sm in range(4):
        for ns in (0, 20_000, 90_000):
            at = known.at(sm, round(ns * HERTZ) + sm * 10**12) + (known.start - START)
            assert at == pytest.approx(ns, abs=max(2, tick / 8))


def test_a_cycle_is_known_better_from_an_earlier_call() -> None:
    alone = clocks(anchors(1024, 1e-5)).cycle
    both = clocks(anchors(1024, 1e-5), anchors(1024, 1e-2)).cycle
    assert abs(both - 1 / HERTZ) < 1e-3 * abs(alone - 1 / HERTZ) + 1e-4


def test_the_tick_is_seen() -> None:
    assert clocks(anchors(32, 1e-4)).tick == 32


def test_one_anchor_is_enough_not_to_fail() -> None:
    known = clocks([(7, START, 1000)])
    assert (known.at(7, 1000), known.cycle, known.tick) == (0.0, 1.0, 0)
