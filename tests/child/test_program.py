"""A program of ours, run once: by itself, under a tool, too slow, too large for a command line."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from fictl.child.environment import unwatched
from fictl.child.listener import Listener
from fictl.child.message import Done
from fictl.child.program import Program
from fictl.errors import FictlError, SetupError
from fictl.process import TimedOut, TimeLimit


@dataclass(frozen=True)
class Asked:
    way: str
    text: str = ""


@dataclass(frozen=True)
class Told:
    text: str


CHILD = """
import os, signal, subprocess, sys, time
from dataclasses import dataclass
from fictl.child.message import Done, Failed, send
from fictl.child.program import leave_answer, request_in

@dataclass(frozen=True)
class Asked:
    way: str
    text: str = ""

@dataclass(frozen=True)
class Told:
    text: str

@dataclass(frozen=True)
class Strange:
    pass

asked = request_in(sys.argv[1:], Asked)
print("some words")
sys.stdout.flush()
if asked.way == "tells":
    send(Told(asked.text + os.environ.get("FICTL_LOGLEVEL", "")))
    leave_answer(sys.argv[1:], Told(asked.text))
    send(Done())
elif asked.way == "fails":
    send(Failed("no GPU", "buy one", 3))
elif asked.way == "strange":
    send(Strange())
elif asked.way == "torn":
    os.write(1, b'\\x1e{"kind": "Told", "te')
    send(Told("whole"))
elif asked.way == "dies":
    os.kill(os.getpid(), signal.SIGSEGV)
elif asked.way == "hangs":
    child = subprocess.Popen(["sleep", "60"])
    send(Told(str(child.pid)))
    time.sleep(60)
"""


@pytest.fixture
def program(module: Callable[[str], str]) -> Callable[..., Program]:
    name = module(CHILD)
    return lambda *words, **more: Program(name, Asked(*words), unwatched(), **more)


@pytest.fixture
def listened() -> tuple[Listener, list[Told]]:
    told: list[Told] = []
    return Listener({Told: told.append}), told


def test_a_request_goes_in_and_messages_come_out(program, listened, monkeypatch) -> None:
    monkeypatch.setenv("FICTL_LOGLEVEL", "7")
    listener, told = listened
    assert program("tells", "ä\n").listen(listener, 60.0).code == 0
    assert (told, listener.done, listener.lines) == ([Told("ä\n0")], True, ["some words"])


def test_an_error_is_of_its_kind(program, listened) -> None:
    listener, _ = listened
    program("fails").listen(listener, 60.0)
    assert isinstance(listener.error, SetupError)
    assert (listener.error.message, listener.error.hint) == ("no GPU", "buy one")
    assert not listener.done


def test_a_message_of_unknown_kind_is_an_error(program, listened) -> None:
    with pytest.raises(FictlError, match="'Strange' is not known here"):
        program("strange").listen(listened[0], 60.0)


def test_a_torn_line_is_output_and_the_next_message_is_heard(program, listened) -> None:
    listener, told = listened
    program("torn").listen(listener, 60.0)
    assert told == [Told("whole")]
    assert listener.lines == ["some words", '\x1e{"kind": "Told", "te']


def test_one_that_is_killed_leaves_its_last_words(program, listened) -> None:
    listener, _ = listened
    assert program("dies").listen(listener, 60.0).code == -11
    assert (listener.last_words(1), listener.done, listener.error) == ("some words", False, None)


def test_one_that_hangs_is_killed_with_what_it_started(program, listened) -> None:
    _, told = listened
    limit = TimeLimit(60.0)
    hurried = Listener({Told: lambda message: (told.append(message), limit.restart(0.2))})
    with pytest.raises(TimedOut):
        program("hangs").listen(hurried, limit)
    _wait_for_end(int(told[0].text))


def _wait_for_end(pid: int) -> None:
    end = time.monotonic() + 10
    while time.monotonic() < end:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return
        if fields[0] == "Z":
            return
        time.sleep(0.01)
    pytest.fail(f"{pid} is still running")


def test_under_a_tool_that_prints_messages_are_still_heard(program, listened, tmp_path) -> None:
    tool = tmp_path / "tool"
    tool.write_text(
        f'#!{sys.executable}\nimport os, sys\nos.write(1, b"==T== half")\n'
        "os.execv(sys.argv[1], sys.argv[1:])\n"
    )
    tool.chmod(0o700)
    listener, told = listened
    program("tells", "x").under([tool], {"FICTL_LOGLEVEL": "2"}).listen(listener, 60.0)
    assert told == [Told("x2")]
    assert listener.lines == ["==T== halfsome words"]
    assert listener.last_words(marks=["==T=="]) == ""


def test_a_request_and_an_answer_of_any_size_go_by_files(program, tmp_path) -> None:
    large = "x" * (1 << 20)
    filed = program("tells", large).filed(tmp_path)
    assert all(len(word) < 4096 for word in filed.argv())
    assert "some words" in filed.run(60.0).output
    assert filed.answer(Told) == Told(large)


def test_one_that_ends_before_it_answers_has_no_answer(program, tmp_path) -> None:
    filed = program("dies").filed(tmp_path)
    assert filed.run(60.0).code == -11
    assert filed.answer(Told) is None


def test_nothing_watches_the_calls_of_a_child(monkeypatch) -> None:
    monkeypatch.setenv("FICTL_TRACE_DUMP", "1")
    variables = unwatched("emu")
    watching = ("FICTL_LOGLEVEL", "FICTL_VALIDATE_INPUTS", "FICTL_TRACE_DUMP")
    assert [variables[name] for name in watching] == ["0", "0", "0"]
    assert variables["FICTL_DEVICE"] == "emu"
    assert variables["PYTHONPATH"].split(os.pathsep)
    assert "FICTL_DEVICE" not in unwatched()


def test_done_may_be_said_by_any_child() -> None:
    assert Listener({}).done is False
    listener = Listener({})
    listener._end(Done())
    assert listener.done
