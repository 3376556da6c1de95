from __future__ import annotations

import re
import sys

import pytest

from fictl.cli import console
from fictl.cli.console import Result, Table
from fictl.errors import FictlError

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


class _Screen:
    """As much of rich's console as wrapping asks for."""

    def __init__(self, width: int, is_terminal: bool = True) -> None:
        self.width, self.is_terminal = width, is_terminal


_HINT = "use numbers, names, comparisons in where(…), exp, log, softplus, over a row: sum"


def test_a_hint_is_wrapped_at_words_below_its_beginning() -> None:
    lines = console.wrapped(_HINT, 8, _Screen(40)).split("\n")
    assert len(lines) > 2
    assert all(line.startswith(" " * 8) and line[8] != " " for line in lines[1:])
    assert max(len(lines[0]) + 8, *map(len, lines[1:])) <= 40
    assert " ".join(line.strip() for line in lines) == _HINT


def test_a_pipe_gets_a_hint_as_one_line() -> None:
    assert console.wrapped(_HINT, 8, _Screen(40, is_terminal=False)) == _HINT


@pytest.mark.parametrize(
    "line",
    [
        "fictl new-op silu_mul --input x:n --input y:n --expr 'silu(x) * y'",
        "pip install 'apache-tvm-ffi>=0.1,<0.2' 'another-package>=3' and-more",
        "FICTL_DEVICE=emu pytest tests/kernels/elementwise/test_silu_mul.py -k bf16",
        "/a/path/without/blanks/that/is/longer/than/the/screen/is/wide",
    ],
)
def test_what_is_pasted_into_a_shell_stays_whole(line: str) -> None:
    assert console.wrapped(line, 8, _Screen(40)) == line


def test_lines_of_a_text_keep_their_places() -> None:
    text = "two lines:\n  1 | float x;\n      ^ here"
    assert console.wrapped(text, 7, _Screen(80)) == text


def test_a_screen_without_room_is_left_to_the_terminal() -> None:
    assert console.wrapped(_HINT, 8, _Screen(20)) == _HINT


def test_an_error_is_wrapped_on_a_terminal(capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    console.problem(FictlError("it failed", _HINT))
    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if len(_plain(line)) > 40] == []
    assert [_plain(line)[:8] for line in lines[2:]] == [" " * 8] * len(lines[2:])


def _plain(line: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", line)
