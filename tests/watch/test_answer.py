"""What the end of a process means."""

from __future__ import annotations

import pytest

from fictl.watch.answer import Answer


def test_a_document_is_taken_apart() -> None:
    out = '{"schema": "x/1", "ok": false, "data": [1], "error": {"message": "m", "hint": "h"}}'
    answer = Answer.read("build", 1, 0.5, out, "noise")
    assert (answer.data, str(answer.error)) == ([1], "m\n  hint: h")


@pytest.mark.parametrize(
    ("code", "out", "how"),
    [
        (-11, "", "fictl test ended with SIGSEGV"),
        (1, "no document", "fictl test ended with exit code 1"),
        (0, "[1]", "fictl test ended with exit code 0"),
        (0, "{}", "fictl test ended with exit code 0"),
    ],
)
def test_without_one_it_is_how_it_ended_and_what_it_said_last(code, out, how) -> None:
    answer = Answer.read("test", code, 0.5, out, "first\nlast\n\n")
    assert answer.error is not None
    assert (answer.error.message, answer.error.hint) == (how, "last")
    assert answer.code != 0
