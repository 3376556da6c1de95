"""Names that may be tensors or numbers are asked for on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from fictl.cli._new_op.settle import settle
from fictl.project import Project
from fictl.scaffold.new.new_op import draft
from fictl.scaffold.new.request import NewOpRequest

REQUEST = NewOpRequest("mine", expression="silu(x) * y + z")


def settled(
    answers: list[str | None],
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: NewOpRequest = REQUEST,
) -> NewOpRequest:
    """None is Enter; an answer that is left over is a failure."""
    left: Iterator[str | None] = iter(answers)

    def prompt(question: str, default: Any, err: bool) -> Any:
        answer = next(left)
        return default if answer is None else answer

    monkeypatch.setattr(typer, "prompt", prompt)
    project = Project.at(root)
    made = settle(request, draft(project, request))
    assert not [*left]
    assert not draft(project, made).guesses
    return made


def test_enter_leaves_numbers(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = settled([None, None], root, monkeypatch)
    assert (made.inputs, made.scalars) == ((), ("y:float", "z:float"))


def test_a_tensor_has_the_shape_of_the_first(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = settled(["t", "number"], root, monkeypatch)
    assert (made.inputs, made.scalars) == (("x:n", "y:n"), ("z:float",))


def test_another_answer_is_asked_for_again(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = settled(["maybe", "", "tensor", "tensor"], root, monkeypatch)
    assert made.inputs == ("x:n", "y:n", "z:n")
    assert "'maybe' is neither: answer number or tensor" in capsys.readouterr().err


def test_what_was_said_is_not_asked(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    request = NewOpRequest("mine", expression="x * rsqrt(mean(x * x) + eps)", kind="rowwise")
    assert settled([], root, monkeypatch, request) == request
