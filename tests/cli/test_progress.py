"""Builds as they go: plain lines on a pipe, one bar on a terminal."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from fictl.cli import console
from fictl.cli.progress import ConsoleObserver
from fictl.jit.progress import Started

STARTED = Started("tiny/scale", "8.0", "flag", 3, 1, 2, 0, Path("/cache/build.log"))


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    console.begin("fictl.build", as_json=False)
    yield
    console.begin("fictl", as_json=False)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> StringIO:
    """What a terminal on stderr would receive."""
    written = StringIO()
    drawn = Console(file=written, force_terminal=True, width=200)
    monkeypatch.setattr(console, "console", lambda stderr=False: drawn)
    return written


def test_a_pipe_gets_one_line_and_no_bar(capsys: pytest.CaptureFixture[str]) -> None:
    with ConsoleObserver() as observer:
        observer.started(STARTED)
        observer.advanced(1, 3, "launcher.o")
        observer.finished("tiny/scale", 1.0)
        assert observer._bar is None
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "building tiny/scale for 8.0: 3 units (1 cached); log /cache/build.log\n"


def test_a_note_is_printed_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    with ConsoleObserver() as observer:
        observer.note("waiting for [pid 7]")
    assert capsys.readouterr().err == "waiting for [pid 7]\n"


@pytest.mark.parametrize(("verbose", "shown"), [(True, "nvcc -c a.cu\n"), (False, "")])
def test_commands_are_shown_when_asked_for(capsys, verbose: bool, shown: str) -> None:
    with ConsoleObserver(verbose) as observer:
        observer.command("nvcc -c a.cu")
    assert capsys.readouterr().err == shown


def test_a_terminal_gets_a_bar_that_counts_what_is_compiled(terminal: StringIO) -> None:
    with ConsoleObserver() as observer:
        observer.started(STARTED)
        (task,) = observer._bar.tasks
        assert (task.description, task.total, task.completed) == ("tiny/scale", 3, 0)
        observer.advanced(2, 3, "launcher.o")
        assert task.completed == 2
        observer.finished("tiny/scale", 1.0)
        assert observer._bar.tasks == []
    assert "tiny/scale" in terminal.getvalue()


def test_builds_in_threads_have_a_task_each(terminal: StringIO) -> None:
    def other() -> None:
        observer.started(STARTED)
        observer.advanced(1, 3, "a.o")

    with ConsoleObserver() as observer:
        observer.started(STARTED)
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert [task.completed for task in observer._bar.tasks] == [0, 1]


def test_the_bar_stops_when_a_build_fails(terminal: StringIO) -> None:
    observer = ConsoleObserver()

    def fail() -> None:
        with observer:
            observer.started(STARTED)
            raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        fail()
    assert not observer._bar.live.is_started


def test_progress_of_a_build_that_was_never_started_is_ignored(terminal: StringIO) -> None:
    with ConsoleObserver() as observer:
        observer.advanced(1, 2, "a.o")
        observer.finished("tiny/scale", 1.0)
    assert terminal.getvalue() == ""
