"""A long-lived child: asked, late, dead between requests; and a transport that is not a process."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from fictl.child.codec import Malformed
from fictl.child.family import member
from fictl.child.local_process import LocalProcess, python
from fictl.child.session import Gone, Late, Session


@dataclass(frozen=True)
class Ask:
    way: str = ""


@dataclass(frozen=True)
class Answer:
    text: str


CHILD = """
import os, signal, subprocess, sys, time
from dataclasses import dataclass
from fictl.child.requests import Answers, Requests

@dataclass(frozen=True)
class Ask:
    way: str = ""

@dataclass(frozen=True)
class Answer:
    text: str

answers = Answers()
busy = False
for request in Requests((Ask,), lambda: busy):
    busy = True
    print("words that are no answer", flush=True)
    if request.way == "hangs":
        child = subprocess.Popen(["sleep", "60"], start_new_session=True)
        open("grandchild", "w").write(str(child.pid))
        time.sleep(60)
    busy = False
    answers.send(Answer(f"{os.getpid()} {request.way}"))
    if request.way == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def process(module: Callable[[str], str], tmp_path, monkeypatch) -> Iterator[LocalProcess]:
    monkeypatch.chdir(tmp_path)
    child = LocalProcess(python("-m", module(CHILD)))
    yield child
    child.close(0.2)


@pytest.fixture
def session(process: LocalProcess) -> Session:
    return Session(process, (Answer,))


def test_one_child_answers_many_requests(session) -> None:
    first, second = session.ask(Ask("a"), 60.0), session.ask(Ask("b"), 60.0)
    assert (first.text.split()[1], second.text.split()[1]) == ("a", "b")
    assert first.text.split()[0] == second.text.split()[0]


def test_one_that_dies_between_requests_has_gone(session, process) -> None:
    session.ask(Ask("dies"), 60.0)
    process.wait(10.0)
    assert process.has_ended
    with pytest.raises(Gone) as caught:
        session.ask(Ask(), 60.0)
    assert not isinstance(caught.value, Late)
    assert process.close() == "SIGKILL"


def test_one_that_is_late_is_ended_with_what_it_started(session, process, tmp_path) -> None:
    session.ask(Ask(), 60.0)
    with pytest.raises(Late, match=r"did not answer within 0.5 s"):
        session.ask(Ask("hangs"), 0.5)
    grandchild = tmp_path / "grandchild"
    while not (grandchild.is_file() and grandchild.read_text()):
        time.sleep(0.01)
    assert process.close(2.0) == "SIGTERM"
    end = time.monotonic() + 10
    while member(int(grandchild.read_text())) and time.monotonic() < end:
        time.sleep(0.01)
    assert member(int(grandchild.read_text())) is None


def test_one_that_is_terminated_by_another_thread_has_gone(session, process) -> None:
    session.ask(Ask(), 60.0)
    threading.Timer(0.2, process.terminate).start()
    with pytest.raises(Gone):
        session.ask(Ask("hangs"), 60.0)


def test_one_that_nobody_asks_any_more_ends_by_itself(process, session) -> None:
    session.ask(Ask(), 60.0)
    process.hang_up()
    assert process.wait(10.0) == 0


def test_one_that_is_busy_then_ends_too(session, process, tmp_path) -> None:
    session.send(Ask("hangs"))
    while not (tmp_path / "grandchild").is_file():
        time.sleep(0.01)
    process.hang_up()
    assert process.wait(10.0) == -signal.SIGTERM
    os.kill(int((tmp_path / "grandchild").read_text()), signal.SIGKILL)


class Wire:
    """A transport without a process: what is written, and the lines that come back."""

    def __init__(self, *lines: str | None) -> None:
        self.written: list[str] = []
        self.lines = [*lines]

    def write_line(self, line: str) -> None:
        self.written.append(line)

    def next_line(self, deadline: float) -> str | None:
        return self.lines.pop(0)

    def close(self) -> str:
        return "exit code 0"


def test_a_session_needs_lines_only() -> None:
    wire = Wire('{"kind": "Answer", "text": "t"}', None, "")
    session = Session(wire, (Answer,))
    assert session.ask(Ask("w"), 1.0) == Answer("t")
    assert wire.written == ['{"kind": "Ask", "way": "w"}']
    with pytest.raises(Late):
        session.ask(Ask(), 1.0)
    with pytest.raises(Gone):
        session.ask(Ask(), 1.0)


@pytest.mark.parametrize("line", ["what?", '{"kind": "Strange"}', '{"kind": "Answer"}', "[]"])
def test_an_answer_that_cannot_be_read_is_a_value_error(line: str) -> None:
    with pytest.raises(ValueError) as caught:
        Session(Wire(line), (Answer,)).ask(Ask(), 1.0)
    assert line == "what?" or isinstance(caught.value, Malformed)
