"""The bar that a terminal shows once something takes a while."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from fictl.cli import console, late_bar
from fictl.cli.late_bar import LateBar


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    made = io.StringIO()
    drawn = Console(file=made, force_terminal=True, width=100)
    monkeypatch.setattr(console, "console", lambda stderr=False: drawn)
    monkeypatch.setattr(late_bar, "LATE_SECONDS", -1.0)
    return made


def test_a_terminal_sees_how_many_are_done_and_which_runs(screen: io.StringIO) -> None:
    with LateBar() as bar:
        bar.update(2, 7, "test_long[x]")
    assert "2/7" in screen.getvalue()
    assert "test_long[x]" in screen.getvalue()


def test_what_is_soon_done_has_no_bar(screen: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(late_bar, "LATE_SECONDS", 60.0)
    with LateBar() as bar:
        bar.update(2, 7, "test_long[x]")
    assert screen.getvalue() == ""


def test_a_pipe_has_no_bar(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(late_bar, "LATE_SECONDS", -1.0)
    console.begin("fictl.test", as_json=False)
    with LateBar() as bar:
        bar.update(2, 7, "test_long[x]")
    assert capsys.readouterr() == ("", "")
