"""A program under a tool: what it says over its channel, and what both print."""

from __future__ import annotations

import pytest

from fictl.case.messages import CaseChosen
from fictl.child.message import Done, Failed, to_line
from fictl.errors import FictlError, SetupError, UsageError
from fictl.profile.launched import Launched


def test_messages_are_taken_and_lines_are_kept_and_told() -> None:
    told: list[str] = []
    launched = Launched(told.append)
    for line in (
        "==PROF== a",
        "",
        "\x1e" + to_line(CaseChosen("k-8")),
        "b  ",
        "\x1e" + to_line(Done()),
    ):
        launched.listener.hear(line)
    assert (launched.case, launched.done) == ("k-8", True)
    assert launched.lines == told == ["==PROF== a", "b"]
    assert launched.last_words(["==PROF=="]) == "b"


@pytest.mark.parametrize(("code", "kind"), [(1, FictlError), (2, UsageError), (3, SetupError)])
def test_an_error_keeps_its_exit_code(code, kind) -> None:
    launched = Launched(str)
    launched.listener.hear("\x1e" + to_line(Failed("m", "h", code)))
    assert type(launched.error) is kind
    assert not launched.done
