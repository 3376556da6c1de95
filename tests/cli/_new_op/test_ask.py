"""Questions on a terminal: Enter takes what is usual, a bad answer is asked for again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from fictl.cli import console
from fictl.cli._new_op.ask import ask
from fictl.project import Project
from fictl.scaffold.new.request import NewOpRequest


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """None is Enter."""
    given: list[str | None] = []
    left: Iterator[str | None] = iter(given)

    def prompt(question: str, default: Any, err: bool) -> Any:
        answer = next(left)
        return default if answer is None else answer

    monkeypatch.setattr(typer, "prompt", prompt)
    return given


def test_enter_takes_what_is_usual(answers: list[str | None], root: Path) -> None:
    answers += [None, None, None]
    request = ask(NewOpRequest("mine"), Project.at(root))
    assert request == NewOpRequest(
        "mine", "", "elementwise", dtypes="f16 bf16 f32", expression="x * factor"
    )


def test_an_expression_is_an_answer_and_tells_the_kind(
    answers: list[str | None], root: Path
) -> None:
    answers += ["x / sum(x)", None, None]
    request = ask(NewOpRequest("mine"), Project.at(root))
    assert (request.kind, request.expression, request.family) == ("", "x / sum(x)", "rowwise")


def test_a_bad_answer_is_asked_for_again(
    answers: list[str | None], root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers += ["nonsense", "silu(x", "rowwise", "x /", "x / sum(x)", "norm", "f16"]
    request = ask(NewOpRequest("mine"), Project.at(root))
    assert (request.kind, request.expression, request.family) == ("rowwise", "x / sum(x)", "norm")
    said = capsys.readouterr().err
    assert "there is no kind 'nonsense'" in said
    assert said.count("is not an expression") == 2


def test_every_kind_is_shown_with_what_it_is_in_lines_that_fit(
    answers: list[str | None],
    root: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(console, "width", lambda: 60)
    answers += ["elementwise", None, None, None]
    ask(NewOpRequest("mine"), Project.at(root))
    said = capsys.readouterr().err
    assert "one value of the output from one of each input" in " ".join(said.split())
    assert max(map(len, said.splitlines())) <= 60
