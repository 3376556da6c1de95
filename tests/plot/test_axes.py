from __future__ import annotations

import pytest

from fictl.plot.axes import LogAxis, PlotFrame
from fictl.plot.canvas import Words


def test_an_axis_ends_at_powers_around_its_values() -> None:
    axis = LogAxis.around([3, 1000], 10)
    assert (axis.low, axis.high) == (1, 1000)


def test_one_value_has_room_around_it() -> None:
    axis = LogAxis.around([8], 2)
    assert (axis.low, axis.high) == (8, 16)


def test_places_are_shares_of_the_axis() -> None:
    axis = LogAxis(1, 100, 10)
    assert [axis.share(value) for value in (1, 10, 100)] == pytest.approx([0, 0.5, 1])


def test_many_marks_are_thinned_out() -> None:
    assert len(list(LogAxis(1, 2.0**40, 2).marks())) <= 13


def test_millions_are_spelled_short() -> None:
    frame = PlotFrame.of("t", ("n", LogAxis(2.0**18, 2.0**22, 2)), ("GB/s", LogAxis(1, 10, 10)))
    said = [mark.text for mark in frame.canvas.marks if isinstance(mark, Words)]
    assert {"262144", "1Mi", "4Mi"} <= {*said}
