"""The bar that a terminal shows while tests run."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from fictl.cli import console, test_bar
from fictl.cli.test_bar import TestBar
from fictl.testing.runner.journal import Journal
from fictl.testing.runner.outcome import Outcome


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    made = io.StringIO()
    drawn = Console(file=made, force_terminal=True, width=100)
    monkeypatch.setattr(console, "console", lambda stderr=False: drawn)
    monkeypatch.setattr(test_bar, "_SOON_SECONDS", 0.0)
    return made


@pytest.fixture
def journal() -> Journal:
    done = {name: Outcome(name, "passed") for name in ("a::test_1", "a::test_2")}
    return Journal(Path(), done, 7, running={0: Outcome("a.py::test_long[x]", "failed")})


def test_a_terminal_sees_how_many_are_done_and_which_runs(screen, journal) -> None:
    with TestBar() as bar:
        bar.told(journal)
    assert "2/7" in screen.getvalue()
    assert "test_long[x]" in screen.getvalue()


def test_what_is_soon_done_has_no_bar(screen, journal, monkeypatch) -> None:
    monkeypatch.setattr(test_bar, "_SOON_SECONDS", 60.0)
    with TestBar() as bar:
        bar.told(journal)
    assert screen.getvalue() == ""


def test_a_pipe_has_no_bar(journal, monkeypatch, capsys) -> None:
    monkeypatch.setattr(test_bar, "_SOON_SECONDS", 0.0)
    console.begin("fictl.test", as_json=False)
    with TestBar() as bar:
        bar.told(journal)
    assert capsys.readouterr() == ("", "")
