"""When a run begins, is ended and begins again; steps are stand-ins, saves are real."""

from __future__ import annotations

import os
import statistics
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fictl.errors import FictlError
from fictl.project import select
from fictl.watch.answer import Answer
from fictl.watch.made_of import MadeOf
from fictl.watch.observer import WatchObserver
from fictl.watch.request import WatchRequest
from fictl.watch.session import WatchSession
from fictl.watch.step_process import Step

# Of a save: the promise of the issue.
PROMISED_SECONDS = 0.1
BUILT = [{"compiled": True, "seconds": 0.5}]
TESTED: dict[str, Any] = {
    "passed": 1,
    "failed": [],
    "out_of_memory": [],
    "skipped": {},
    "tests": [],
    "device": "emu",
}

Script = Callable[[int], Any]


class StandIn:
    """Steps that do what a script says for each of them: its error, or None if it went well.

    HANGS does not end by itself. `stopped` are the numbers of those that were stopped.
    """

    HANGS = "hangs"

    def __init__(self, script: Script) -> None:
        self.script, self.begun, self.stopped = script, 0, list[int]()
        self._answer: Answer | None = None

    def prepare(self) -> None:
        pass

    def start(self, step: Step, ended: Callable[[], object]) -> None:
        number, self.begun = self.begun, self.begun + 1
        data: Any = BUILT if step.name == "build" else TESTED
        said = self.script(number)
        if said != self.HANGS:
            error = FictlError(said) if said else None
            self._answer = Answer(step.name, bool(error), 0.1, data, error)
            ended()

    def answer(self) -> Answer:
        assert self._answer is not None
        return self._answer

    def stop(self) -> None:
        self.stopped.append(self.begun - 1)


class Heard(WatchObserver):
    """What was told, in words; `at` are the times at which steps began."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.at: list[float] = []
        self.files = 0

    def watching(self, files: Any, polling: str) -> None:
        self.files = len(files)

    def cycle(self, cycle: Any) -> None:
        self.words.append(" ".join(["cycle", *[path.name for path in cycle.saved]]))

    def step(self, name: str) -> None:
        self.at.append(time.perf_counter())
        self.words.append(name)

    def ended(self, cycle: Any, history: Any) -> None:
        self.words.append(f"cancelled {cycle.cancelled}" if cycle.cancelled else "ended")


@pytest.fixture
def header(tiny: Path) -> Path:
    return tiny / "kernels/include/tiny/elementwise/twice.cuh"


@pytest.fixture
def session(tiny: Path) -> Callable[..., WatchSession]:
    def make(script: Script, **request: Any) -> WatchSession:
        asked = WatchRequest(("twice",), "emu", **{"test": False, "bench": False, **request})
        steps: Any = StandIn(script)
        return WatchSession(asked, MadeOf(select(["twice"])), steps, Heard())

    return make


def save(path: Path, text: str) -> float:
    """As editors do it; when."""
    return save_all({path: text})


def save_all(texts: dict[Path, str]) -> float:
    """With nothing between them."""
    for path, text in texts.items():
        path.with_name(f".{path.name}.new").write_text(text)
    at = time.perf_counter()
    for path in texts:
        os.replace(path.with_name(f".{path.name}.new"), path)
    return at


def later(seconds: float, *actions: Callable[[], object]) -> None:
    """From another thread, so much apart."""

    def act() -> None:
        for action in actions:
            time.sleep(seconds)
            action()

    threading.Thread(target=act, daemon=True).start()


def interrupt() -> None:
    raise KeyboardInterrupt


def test_a_save_runs_it_again_and_ctrl_c_ends_it(session, header) -> None:
    def script(number: int) -> None:
        actions = [lambda: save(header, "// 1\n"), lambda: save(header, "// 2\n"), interrupt]
        later(0.05, actions[number]) if number < 2 else interrupt()

    watch = session(script)
    watch.watch()
    assert watch.observer.words == [
        "cycle",
        "build",
        "ended",
        "cycle twice.cuh",
        "build",
        "ended",
        "cycle twice.cuh",
    ]
    assert (watch.history.saves, watch.history.builds, watch.history.failures) == (2, 2, 0)
    assert watch.observer.files == 9


def test_a_save_is_seen_and_the_build_begun_in_a_tenth_of_a_second(session, header) -> None:
    saved: list[float] = []

    def script(number: int) -> None:
        if number == 7:
            interrupt()
        later(0.03, lambda: saved.append(save(header, f"// {number}\n")))

    watch = session(script)
    watch.watch()
    late = [begun - at for at, begun in zip(saved, watch.observer.at[1:], strict=False)]
    print(f"from save to build: median {statistics.median(late) * 1e3:.0f} ms of {len(late)}")
    assert statistics.median(late) < PROMISED_SECONDS


def test_saves_close_together_are_one(session, header, tiny) -> None:
    texts = {header: "// 1\n", tiny / "kernels/elementwise/twice/op.py": "pass\n"}

    def script(number: int) -> None:
        later(0.05, lambda: save_all(texts)) if number == 0 else interrupt()

    watch = session(script)
    watch.watch()
    assert watch.observer.words[3] == "cycle op.py twice.cuh"


def test_a_save_ends_what_runs_and_begins_again(session, header) -> None:
    def script(number: int) -> str:
        later(0.05, lambda: save(header, "// 1\n")) if number == 1 else None
        return StandIn.HANGS if number == 1 else interrupt() if number == 3 else ""

    watch = session(script, test=True)
    watch.watch()
    assert watch.observer.words == [
        "cycle",
        "build",
        "test",
        "cancelled test",
        "cycle twice.cuh",
        "build",
    ]
    assert watch.steps.stopped == [1]


def test_a_save_that_changes_nothing_leaves_what_runs_alone(session, header) -> None:
    again = header.read_text()

    def script(number: int) -> str:
        if number:
            interrupt()
        later(0.05, lambda: save(header, again), lambda: save(header, "// 1\n"))
        return StandIn.HANGS

    watch = session(script)
    watch.watch()
    assert watch.observer.words == ["cycle", "build", "cancelled build", "cycle twice.cuh"]
    assert watch.steps.stopped == [0]


def test_one_that_changes_nothing_while_it_waits_is_a_wish_to_run_again(session, header) -> None:
    def script(number: int) -> None:
        later(0.05, lambda: save(header, header.read_text())) if number == 0 else interrupt()

    watch = session(script)
    watch.watch()
    assert watch.observer.words[3] == "cycle twice.cuh"


def test_what_does_not_belong_to_the_op_is_no_save(session, header, tiny) -> None:
    other = header.with_name("other.cuh")

    def script(number: int) -> None:
        actions = [lambda: other.write_text("//"), lambda: save(header, "// 1\n")]
        later(0.1, *actions) if number == 0 else interrupt()

    watch = session(script)
    watch.watch()
    assert watch.observer.words[3] == "cycle twice.cuh"


def test_a_folder_that_goes_and_comes_back_is_a_save_each_time(session, tiny) -> None:
    op = tiny / "kernels/elementwise/twice"

    def script(number: int) -> None:
        actions = [lambda: op.rename(tiny / "away"), lambda: (tiny / "away").rename(op)]
        later(0.05, actions[number]) if number < 2 else interrupt()

    watch = session(script)
    watch.watch()
    assert [word for word in watch.observer.words if word.startswith("cycle ")] == [
        "cycle bench.py binding.cpp jit.py launcher.cu op.py trace.py"
    ] * 2


def test_after_a_step_that_fails_no_other_runs(session, header) -> None:
    def script(number: int) -> str:
        later(0.05, lambda: save(header, "// 1\n")) if number == 0 else interrupt()
        return "it does not build"

    watch = session(script, test=True)
    watch.watch()
    assert watch.observer.words[:3] == ["cycle", "build", "ended"]
    assert (watch.history.failures, watch.history.builds) == (1, 1)


@pytest.mark.parametrize(("said", "code"), [("", 0), ("it does not build", 1)])
def test_once_is_one_run_and_its_exit_code(session, said: str, code: int) -> None:
    watch = session(lambda number: said, test=True)
    assert watch.once() == code
    assert watch.observer.words == ["cycle", "build", *(["test"] if not said else []), "ended"]
