"""fictl watch: what it shows of a run, and a session with real edits, a compiler and pytest."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fictl.bench.row import Row
from fictl.cli import console
from fictl.cli._watch.screen import Screen, view_summary
from fictl.emu.toolchain import current_toolchain
from fictl.paths import same_packages
from fictl.watch.board import Board
from fictl.watch.history import Cycle, History
from fictl.watch.outcome import StepOutcome
from fictl.watch.problem import Problem

HANGS = """
import os, pathlib, time

def test_hangs():
    pathlib.Path(r"{place}").write_text(str(os.getpid()))
    time.sleep(60)
"""


@pytest.fixture
def screen() -> Iterator[Screen]:
    console.begin("fictl.watch", as_json=False)
    with Screen(["twice"]) as found:
        yield found


def row(microseconds: float) -> Row:
    samples = tuple(microseconds * 1e-6 * (1 + 0.001 * (i % 5)) for i in range(50))
    return Row("p/f/x", "x", "fictl", "x-16-float32", {}, "float32", samples=samples)


def shown(screen: Screen, history: History, *outcomes: StepOutcome, cancelled: str = "") -> None:
    """One run."""
    cycle = Cycle(
        len(history.cycles), 0.0, [Path("twice.cuh").absolute()], list(outcomes), cancelled
    )
    history.cycles.append(cycle)
    screen.cycle(cycle)
    for each in outcomes:
        screen.step(each.step)
        screen.outcome(each)
    screen.ended(cycle, history)


def test_a_case_is_a_line_with_its_last_and_its_best_time(screen, capsys) -> None:
    history = History()
    for number, took in enumerate((65.0, 64.9, 50.0, 60.0)):
        standings = history.board.take([row(took)], number, 0.0)
        shown(screen, history, StepOutcome("bench", 2.0, "1 case timed", standings=standings))
    lines = capsys.readouterr().out.splitlines()
    clock = time.strftime("%H:%M", time.localtime(0.0))
    assert [line.strip() for line in lines if "x-16" in line] == [
        "x-16-float32    65.1 us  timed for the first time",
        f"x-16-float32    65.0 us  tie with the last save, best 65.0 us ({clock})",
        "x-16-float32    50.1 us  -23.0 % against the last save, the best so far",
        f"x-16-float32    60.1 us  +20.0 % against the last save, best 50.1 us ({clock})",
    ]
    assert lines[-1] == "  history  65.1 us → 65.0 us → 50.1 us → 60.1 us"


def test_times_after_a_failure_name_the_save_that_they_are_against(screen, capsys) -> None:
    history = History()
    first = history.board.take([row(50)], 0, 0.0)
    shown(screen, history, StepOutcome("bench", 1.0, standings=first))
    shown(screen, history, StepOutcome("build", 1.0, problem=Problem("no ;")))
    again = history.board.take([row(60)], 2, 60.0)
    shown(screen, history, StepOutcome("bench", 1.0, standings=again))
    clock = time.strftime("%H:%M", time.localtime(0.0))
    assert f"+20.0 % against the save of {clock}, best" in capsys.readouterr().out


def test_a_failure_is_its_message_its_line_and_what_to_do(screen, capsys) -> None:
    here = Path.cwd()
    problem = Problem(f"{here}/twice.cuh:7: error: [bold]", "log: x", "twice.cuh", 7, "  int [7]; ")
    shown(screen, History(), StepOutcome("build", 1.24, problem=problem))
    assert capsys.readouterr().out.splitlines()[1:] == [
        "  ✗ build  failed                    1.2 s",
        "    twice.cuh:7: error: [bold]",
        "        7 | int [7];",
        "    log: x",
    ]


def test_the_history_is_short_and_says_what_was_cancelled(screen, capsys) -> None:
    history = History()
    for _ in range(10):
        shown(screen, history, StepOutcome("test", 1.0, "5 passed"))
    shown(screen, history, cancelled="test")
    assert capsys.readouterr().out.splitlines()[-1] == "  · test   ended: a file was saved"
    shown(screen, history, StepOutcome("test", 1.0, problem=Problem("t")))
    line = capsys.readouterr().out.splitlines()[-1]
    assert line == f"  history  … {'✓ → ' * 8}· → test ✗"


def test_a_warning_is_said_once_and_so_is_that_nothing_was_on_a_gpu(capsys) -> None:
    console.begin("fictl.watch", as_json=False)
    screen, history = Screen(["twice"], "emulated: no GPU was used"), History()
    for count in (1, 2):
        shown(screen, history, StepOutcome("bench", 1.0, warnings=(f"{count} others",)))
    said = capsys.readouterr().out
    assert said.count("others") == 1
    assert said.count("emulated: no GPU was used") == 1


def test_how_it_watches_is_said_if_it_is_not_at_once(screen, capsys) -> None:
    screen.watching([Path("x")] * 3, "/x is on a network file system")
    assert capsys.readouterr().out.splitlines() == [
        "watching twice: 3 files · Ctrl-C ends",
        "  ! looking once a second: /x is on a network file system",
    ]


def test_the_summary_counts_and_has_the_best(capsys) -> None:
    board = Board()
    board.take([row(50)], 0, 0.0)
    console.begin("fictl.watch", as_json=False)
    view_summary(console.console(), History([Cycle(0, 0.0), Cycle(1, 0.0, [Path("x")])], board))
    clock = time.strftime("%H:%M", time.localtime(0.0))
    assert capsys.readouterr().out.splitlines() == [
        "1 save · 0 builds · 0 failed",
        f"  best of x-16-float32: 50.1 us ({clock})",
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [((), "no op is named"), (("twcie",), "did you mean 'twice'?"), (("--case",), "requires an")],
)
def test_a_request_that_is_wrong_is_said_and_nothing_is_watched(
    fictl, tiny, words, message
) -> None:
    answer = fictl("watch", *words)
    assert answer.code == 2
    assert message in answer.err


def test_without_watchdog_it_says_how_to_get_it(fictl, tiny, monkeypatch) -> None:
    # Not by its name, which in its package is that of the function.
    module = sys.modules["fictl.cli.watch"]
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    answer = fictl("watch", "twice")
    assert answer.code == 3
    assert "pip install watchdog" in answer.err


def _hearing_ctrl_c() -> None:
    """What a shell starts with `&` is deaf to it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Session:
    """The command in a process of its own; what it has said so far."""

    def __init__(self, *words: str) -> None:
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fictl", "watch", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, **same_packages()},
            start_new_session=True,
            preexec_fn=_hearing_ctrl_c,  # noqa: PLW1509
        )
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as out:
            for line in out:
                self.lines.append(line)

    def interrupt(self) -> int:
        """As Ctrl-C does; its exit code."""
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(20)
        self.reader.join()
        return code

    def until(self, words: str, seconds: float = 60.0) -> str:
        """All that was said before the line with these words, which is forgotten with them."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for at, line in enumerate(self.lines):
                if words in line:
                    said, self.lines[: at + 1] = "".join(self.lines[: at + 1]), []
                    return said
            time.sleep(0.01)
        raise AssertionError(f"it does not say {words!r} but {''.join(self.lines)}")


@pytest.fixture
def hanging(tiny: Path, users_cache: None, tmp_path: Path) -> Path:
    """Where the test of the op that hangs says which process it is in."""
    if current_toolchain() is None:
        pytest.skip("needs a C++ compiler and CUDA's headers")
    place = tmp_path / "process"
    test = tiny / "tests/kernels/elementwise/test_twice.py"
    test.write_text(HANGS.format(place=place))
    return place


def test_it_stays_alive_through_what_is_saved(tiny: Path, hanging: Path) -> None:
    header = tiny / "kernels/include/tiny/elementwise/twice.cuh"
    right = header.read_text()
    session = Session("twice", "-k", "hangs")
    session.until("✓ build")
    while not hanging.is_file() or not hanging.read_text():
        time.sleep(0.01)

    header.write_text(right.replace("*= 2;", "*= 2"))  # While the test hangs.
    assert "· test   ended: a file was saved" in session.until("twice.cuh saved")
    said = session.until("6 |")
    assert "kernels/include/tiny/elementwise/twice.cuh:6:44: error:" in said
    assert "__global__ void TwiceKernel(int* value) { *value *= 2 }" in said
    assert not Path(f"/proc/{hanging.read_text()}").exists()

    (tiny / "kernels/elementwise/twice/op.py").unlink()
    session.until("op.py gone")
    assert "there is no op 'twice'" in session.until("history  · → build ✗ → build ✗")

    assert session.interrupt() == 0
    assert session.lines[-1].startswith("2 saves · ")


def test_once_is_a_document_of_one_run(fictl, tiny: Path, users_cache: None) -> None:
    if current_toolchain() is None:
        pytest.skip("needs a C++ compiler and CUDA's headers")
    answer = fictl("watch", "twice", "--once", "--no-test", "--json")
    assert answer.code == 0
    data: Any = answer.document["data"]
    assert (data["device"], data["saves"], len(data["cycles"])) == ("emu", 0, 1)
    assert [step["step"] for step in data["cycles"][0]["steps"]] == ["build"]
    assert "emulated: no GPU was used, and nothing is timed" in answer.err
    assert "✓ build" in answer.err
