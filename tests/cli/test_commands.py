"""Declarations of commands, and the help of each: lines, sections, values, examples."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import fictl.cli
from fictl.cli import COMMANDS, application
from fictl.cli.help_page import section_of

FOLDER = Path(fictl.cli.__file__).parent
WIDTH = 80


def _leaves(command: Any, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, inner in command.commands.items():
        if hasattr(inner, "commands"):
            yield from _leaves(inner, *path, name)
        else:
            yield (*path, name), inner


LEAVES = dict(_leaves(application()))
PATHS = pytest.mark.parametrize("path", LEAVES, ids=" ".join)


def _values(command: Any) -> list[Any]:
    """Options and arguments that take a value."""
    return [param for param in command.params if not getattr(param, "is_flag", False)]


def test_every_file_of_a_command_is_declared() -> None:
    there = {
        (*path.parent.relative_to(FOLDER).parts, path.stem.replace("_", "-"))
        for path in FOLDER.rglob("*.py")
        if re.search(r"^def command\(", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert there == {*LEAVES}


@pytest.mark.parametrize("words", [(), *((name,) for name in COMMANDS)], ids=" ".join)
def test_no_line_of_help_is_cut_or_too_long(fictl, monkeypatch, words: tuple[str, ...]) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    text = fictl(*words, "--help").out
    assert [line for line in text.splitlines() if len(line) > WIDTH] == []
    assert "…" not in text
    assert "..." not in text.partition("\n")[2]  # Above it is Typer's own `[ARGS]...`.


def test_a_line_of_the_overview_is_one_line(fictl, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    text = fictl("--help").out
    assert all(f"{name:18}{line}\n" in text for name, line in COMMANDS.items())


@PATHS
def test_a_value_has_a_name(path: tuple[str, ...]) -> None:
    """Not `<str>`, which says what the program does with it."""
    assert [param.name for param in _values(LEAVES[path]) if not param.metavar] == []
    said = " ".join(f"{param.metavar} {param.help}" for param in _values(LEAVES[path]))
    assert "…" not in said
    assert "e+" not in said


@PATHS
def test_options_are_in_sections_that_are_seen_at_a_glance(path: tuple[str, ...]) -> None:
    options = [param for param in LEAVES[path].params if param.param_type_name == "option"]
    sections = [section_of(param, len(options) > 8) for param in options]
    assert [name for name in {*sections} if sections.count(name) > 12] == []


@PATHS
def test_a_command_has_two_examples(path: tuple[str, ...]) -> None:
    examples = LEAVES[path].examples
    assert len(examples) >= 2
    assert [line for line in examples if len(line) > WIDTH - 2] == []
    assert all(f"fictl {' '.join(path)}" in line for line in examples)


@PATHS
def test_an_example_is_understood(path: tuple[str, ...], monkeypatch, tmp_path: Path) -> None:
    """Options, values and the number of words; files are not there, so no callback is called."""
    monkeypatch.chdir(tmp_path)
    command = LEAVES[path]
    context = type(command).context_class(command, info_name="fictl")
    for line in command.examples:
        words = shlex.split(re.sub(r".*?\$\((.*?)\).*", r"\1", line).partition("fictl ")[2])
        given, left, _ = command.make_parser(context).parse_args(words[len(path) :])
        assert left == []
        for param in command.params:
            if param.name in given:
                param.type_cast_value(context, given[param.name])
            assert param.name in given or not param.required


def test_kinds_are_in_the_help_of_new_op_each_with_what_it_is(fictl, repo) -> None:
    from fictl.scaffold.kinds.kind import kinds

    text = fictl("new-op", "--help").out
    for name, kind in kinds().items():
        assert re.search(rf"^  {name} +{kind.summary.split()[0]}", text, re.MULTILINE), name


def test_a_project_that_cannot_be_read_does_not_stop_help(fictl, repo) -> None:
    (repo / "fictl.toml").write_text("name = \n")
    answer = fictl("new-op", "--help")
    assert answer.code == 0
    assert "elementwise" in answer.out


def test_headings_are_bold_on_a_terminal_that_wants_it(fictl, monkeypatch) -> None:
    monkeypatch.setattr("fictl.cli.console.is_terminal", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    plain = fictl("bench", "--help").out
    assert "\nMeasurement:\n" in plain  # The stream of this test is none: colours are taken off.
    from fictl.cli.console import styled

    assert styled("Measurement", "bold") == "\x1b[1mMeasurement\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert styled("Measurement", "bold") == "Measurement"
