"""The bar of a transfer: bytes, rate and time left."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from fictl.cli import console
from fictl.cli.transfer_bar import TransferBar


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    written = io.StringIO()
    drawn = Console(file=written, force_terminal=True, width=140)
    monkeypatch.setattr(console, "console", lambda stderr=False: drawn)
    return written


def test_a_terminal_sees_bytes_rate_and_time_left(screen: io.StringIO) -> None:
    with TransferBar() as bar:
        bar.planned("pulling x from y", 3, 4 << 20)
        bar.moved(1 << 20)
        bar.moved(2 << 20)
        bar._bar.refresh()
    shown = screen.getvalue()
    assert "pulling x from y" in shown
    assert "3.0/4.0 MiB" in shown
    assert "B/s" in shown or "?" in shown
    assert "-:--:--" in shown or "0:00:" in shown


def test_a_pipe_gets_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    console.begin("fictl.artifacts.pull", as_json=False)
    with TransferBar() as bar:
        bar.planned("pulling x from y", 1, 2048)
        bar.moved(2048)
    assert capsys.readouterr() == ("", "pulling x from y: 1 file, 2.0 KiB\n")


def test_a_quiet_one_and_one_with_nothing_to_do_say_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    console.begin("fictl.artifacts.pull", as_json=False)
    for quiet, files in ((True, 3), (False, 0)):
        with TransferBar(quiet) as bar:
            bar.planned("pulling x from y", files, 2048)
            bar.moved(1)
    assert capsys.readouterr() == ("", "")
