from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fictl.errors import SetupError
from fictl.plot.canvas import Box, Canvas, Dot, Line, Words
from fictl.plot.png import write_png


def test_without_matplotlib_the_error_names_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(SetupError, match="needs matplotlib, which is not installed") as caught:
        write_png(Canvas(10, 10), tmp_path / "out.png")
    assert "out.svg" in caught.value.hint


def test_every_mark_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    canvas = Canvas(96, 48)
    canvas.add(Line(((0, 1), (2, 3))), Box(0, 0, 5, 5, "red"), Dot(1, 1, "red"), Words(0, 0, "a"))
    write_png(canvas, tmp_path / "out.png")
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
