from __future__ import annotations

import sys

import pytest

from fictl.cli import console
from fictl.cli.console import Result, Table

TABLE = Table(("name", "built"), [("scale", "built 9.0a"), ("rmsnorm", "no")], {"built": "green"})


@pytest.fixture(autouse=True)
def _fresh() -> None:
    console.begin("fictl.x", as_json=False)


def test_a_table_on_a_pipe_is_plain_and_needs_no_rich(capsys) -> None:
    console.show(Result(None, TABLE))
    assert capsys.readouterr().out == "name     built\nscale    built 9.0a\nrmsnorm  no\n"


def test_a_table_on_a_terminal_has_colours(capsys, monkeypatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    console.show(Result(None, TABLE))
    assert "\x1b[32mbuilt 9.0a" in capsys.readouterr().out


def test_brackets_in_a_cell_are_text_not_markup(capsys, monkeypatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    console.show(Result(None, Table(("a",), [("[bold]x[/]",)])))
    assert "[bold]x[/]" in capsys.readouterr().out


def test_a_table_without_rows_is_its_header(capsys) -> None:
    console.show(Result(None, Table(("name", "built"), [])))
    assert capsys.readouterr().out == "name  built\n"


def test_notes_go_to_stderr(capsys) -> None:
    console.note("[building] scale")
    assert capsys.readouterr() == ("", "[building] scale\n")
