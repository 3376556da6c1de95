from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from fictl.bench.conversation import Conversation
from fictl.bench.observer import BenchObserver
from fictl.bench.row import FAILED, Row
from fictl.child.message import received
from fictl.errors import FictlError, SetupError, UsageError

CASE = {
    "function": "right",
    "case": "right-64-float32",
    "sizes": {"n": 64},
    "dtype": "float32",
    "passing": [],
}


def told(*messages: tuple[str, dict[str, object]]) -> Conversation:
    talk = Conversation("hostile/doubling/doubling", BenchObserver())
    for kind, data in messages:
        talk.hear("\x1e" + json.dumps({"kind": kind, **data}))
    return talk


def test_rows_come_as_they_are_measured(make_row: Callable[..., Row]) -> None:
    talk = told(("case", CASE), ("row", {"row": make_row().to_dict()}), ("done", {}))
    talk.closed(0)
    assert talk.rows == [make_row()]


def test_other_output_is_handed_on() -> None:
    lines: list[str] = []

    class Listening(BenchObserver):
        def line(self, text: str) -> None:
            lines.append(text)

    talk = Conversation("op", Listening())
    for line in ("fictl: building", "", "\x1enot json", "\x1e[1]"):
        talk.hear(line)
    assert lines == ["fictl: building", "\x1enot json", "\x1e[1]"]


@pytest.mark.parametrize(("code", "kind"), [(1, FictlError), (2, UsageError), (3, SetupError)])
def test_an_error_of_the_process_is_raised_here(code: int, kind: type[FictlError]) -> None:
    talk = told(("error", {"message": "no", "hint": "so", "code": code}))
    with pytest.raises(kind, match="no") as caught:
        talk.closed(0)
    assert (caught.value.hint, type(caught.value)) == ("so", kind)


def test_the_case_that_was_running_when_it_died_has_failed() -> None:
    talk = told(("cases", {"count": 3}), ("case", CASE))
    talk.hear("Segmentation fault somewhere")
    talk.closed(-11)
    (row,) = talk.rows
    assert (row.status, row.case) == (FAILED, "right-64-float32")
    assert row.note == "it ended its process with SIGSEGV: Segmentation fault somewhere"
    assert talk.warnings[0].startswith("hostile/doubling/doubling: 2 more cases were not run")


def test_a_case_that_has_its_row_is_not_failed_again(make_row: Callable[..., Row]) -> None:
    talk = told(("cases", {"count": 2}), ("case", CASE), ("row", {"row": make_row().to_dict()}))
    talk.closed(0)
    assert len(talk.rows) == 1
    assert "a fault on the GPU ended its process" in talk.warnings[0]


def test_a_death_before_the_first_case_is_an_error() -> None:
    talk = told()
    talk.hear("ImportError: no torch")
    with pytest.raises(FictlError, match="it ended its process with exit code 1: ImportError"):
        talk.closed(1)


def test_what_is_no_message_is_none() -> None:
    assert received("hello") is None
    assert received('\x1e{"a": 1}') is None
