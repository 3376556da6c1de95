"""A program under a tool: what it says over its channel, and what both print."""

from __future__ import annotations

import json

import pytest

from fictl.errors import FictlError, SetupError, UsageError
from fictl.profile.launched import Launched


def message(kind: str, **data: object) -> str:
    return "\x1e" + json.dumps({"kind": kind, **data})


def test_messages_are_taken_and_lines_are_kept_and_told() -> None:
    told: list[str] = []
    launched = Launched(told.append)
    for line in ("==PROF== a", "", message("case", case="k-8"), "b  ", message("done")):
        launched.hear(line)
    assert (launched.case, launched.done) == ("k-8", True)
    assert launched.lines == told == ["==PROF== a", "b"]
    assert launched.last_words(["==PROF=="]) == "b"


@pytest.mark.parametrize(("code", "kind"), [(1, FictlError), (2, UsageError), (3, SetupError)])
def test_an_error_keeps_its_exit_code(code, kind) -> None:
    launched = Launched(str)
    launched.hear(message("error", message="m", hint="h", code=code))
    assert type(launched.error) is kind
    assert not launched.done
