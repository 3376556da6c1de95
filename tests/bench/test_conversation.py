from __future__ import annotations

from collections.abc import Callable

import pytest

from fictl.bench.conversation import Conversation
from fictl.bench.messages import CasesCounted, CaseStarted, RowMeasured
from fictl.bench.observer import BenchObserver
from fictl.bench.row import FAILED, Row
from fictl.child.message import Done, Failed, to_line
from fictl.errors import FictlError, SetupError, UsageError

CASE = CaseStarted("right", "right-64-float32", {"n": 64}, "float32", ())


def told(*messages: object) -> Conversation:
    talk = Conversation("hostile/doubling/doubling", BenchObserver())
    for message in messages:
        talk.listener.hear("\x1e" + to_line(message))
    return talk


def test_rows_come_as_they_are_measured(make_row: Callable[..., Row]) -> None:
    talk = told(CASE, RowMeasured(make_row()), Done())
    talk.closed(0)
    assert talk.rows == [make_row()]


def test_other_output_is_handed_on() -> None:
    lines: list[str] = []

    class Listening(BenchObserver):
        def line(self, text: str) -> None:
            lines.append(text)

    talk = Conversation("op", Listening())
    for line in ("fictl: building", "", "\x1enot json", "\x1e[1]"):
        talk.listener.hear(line)
    assert lines == ["fictl: building", "\x1enot json", "\x1e[1]"]


@pytest.mark.parametrize(("code", "kind"), [(1, FictlError), (2, UsageError), (3, SetupError)])
def test_an_error_of_the_process_is_raised_here(code: int, kind: type[FictlError]) -> None:
    talk = told(Failed("no", "so", code))
    with pytest.raises(kind, match="no") as caught:
        talk.closed(0)
    assert (caught.value.hint, type(caught.value)) == ("so", kind)


def test_the_case_that_was_running_when_it_died_has_failed() -> None:
    talk = told(CasesCounted(3), CASE)
    talk.listener.hear("Segmentation fault somewhere")
    talk.closed(-11)
    (row,) = talk.rows
    assert (row.status, row.case) == (FAILED, "right-64-float32")
    assert row.note == "it ended its process with SIGSEGV: Segmentation fault somewhere"
    assert talk.warnings[0].startswith("hostile/doubling/doubling: 2 more cases were not run")


def test_a_case_that_has_its_row_is_not_failed_again(make_row: Callable[..., Row]) -> None:
    talk = told(CasesCounted(2), CASE, RowMeasured(make_row()))
    talk.closed(0)
    assert len(talk.rows) == 1
    assert "a fault on the GPU ended its process" in talk.warnings[0]


def test_a_death_before_the_first_case_is_an_error() -> None:
    talk = told()
    talk.listener.hear("ImportError: no torch")
    with pytest.raises(FictlError, match="it ended its process with exit code 1: ImportError"):
        talk.closed(1)
