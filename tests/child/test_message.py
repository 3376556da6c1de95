"""Messages among the other lines of a child."""

from __future__ import annotations

import os
from dataclasses import dataclass

import pytest

from fictl.child.codec import Malformed
from fictl.child.message import Failed, document_in, of_kind, send
from fictl.errors import FictlError, SetupError, UsageError


@dataclass(frozen=True)
class Told:
    text: str


def test_a_message_is_found_behind_half_a_line(capfd: pytest.CaptureFixture[str]) -> None:
    os.write(1, b"half a line")
    send(Told("a\nb ± c"))
    lines = capfd.readouterr().out.split("\n")
    (document,) = [document for document in map(document_in, lines) if document]
    assert of_kind({"Told": Told}, document) == Told("a\nb ± c")


@pytest.mark.parametrize("line", ["hello", '\x1e{"a": 1}', "\x1e[1]", '\x1e{"kind": "To'])
def test_other_output_and_a_torn_line_are_no_message(line: str) -> None:
    assert document_in(line) is None


@pytest.mark.parametrize("document", [{"kind": "Strange"}, {"kind": None}, {"kind": []}, {}])
def test_a_message_of_unknown_kind_is_an_error_that_names_it(document) -> None:
    with pytest.raises(Malformed, match=r"kind: a message .* is not known here, Told are"):
        of_kind({"Told": Told}, document)


@pytest.mark.parametrize(
    ("code", "kind"), [(1, FictlError), (2, UsageError), (3, SetupError), (7, FictlError)]
)
def test_an_error_crosses_with_its_exit_code(code: int, kind: type[FictlError]) -> None:
    error = Failed("m", "h", code).error
    assert (type(error), error.message, error.hint) == (kind, "m", "h")
    assert Failed.of(SetupError("m", "h")) == Failed("m", "h", 3, "setup")
