from __future__ import annotations

from fictl.plot.canvas import Box, Canvas, Line, stacked


def test_stacked_canvases_are_below_each_other() -> None:
    first, second = Canvas(30, 10), Canvas(20, 40)
    first.add(Box(0, 1, 2, 3, "red"))
    second.add(Line(((0, 1), (2, 3))), Box(0, 4, 2, 3, "red"))
    whole = stacked([first, second])
    assert (whole.width, whole.height) == (30, 50)
    assert whole.marks == [
        Box(0, 1, 2, 3, "red"),
        Line(((0, 11), (2, 13))),
        Box(0, 14, 2, 3, "red"),
    ]
