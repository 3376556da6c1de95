"""The tuner: a key is measured once, by whoever comes first, and never breaks a call."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
import torch

from fictl.op.tactics import recorded
from fictl.op.tactics.machine import machine
from fictl.op.tactics.tuning import clear, tuning
from fictl.tune.tuner import Tuner

Q = torch.randn(5, 64)
FASTER = ((1e-5, 0.5e-5, 1e-5, 1e-5),)


@pytest.fixture
def answering(declared: Any) -> Any:
    """An op whose calls are listed by their tactic in `.calls`."""

    def answer(q: Any, out: Any = None, tactic: Any = None) -> Any:
        calls.append(tactic.parts)
        return torch.mul(q, 2, out=torch.empty_like(q) if out is None else out)

    calls: list[int] = []
    function = declared(answer)
    function.calls = calls
    return function


def _last(function: Any, *arguments: Any) -> int:
    function(*arguments)
    last: int = function.calls[-1]
    return last


def test_a_winner_is_used_inside_and_after(answering: Any, stopwatch: Any) -> None:
    tuner = Tuner(timed=stopwatch(FASTER, noise=0.01))
    with tuning(tuner):
        assert _last(answering, Q) == 2
    assert _last(answering, Q) == 2
    assert _last(answering, torch.zeros(100, 64)) == 1
    assert [outcome.key for outcome in tuner.outcomes] == ["q=float32 d=64 n<=8"]


def test_a_key_is_measured_once(answering: Any, stopwatch: Any) -> None:
    watch = stopwatch()
    for _ in range(2):
        with tuning(Tuner(timed=watch)):
            answering(Q)
            answering(Q[:, :])
    assert watch.asked == [[0, 1, 2, 3]]


def test_an_op_that_is_skipped_keeps_its_default(answering: Any, stopwatch: Any) -> None:
    watch = stopwatch(FASTER)
    with tuning(Tuner(timed=watch, skip={"answer"})):
        assert _last(answering, Q) == 1
    assert watch.asked == []
    with tuning(Tuner(timed=watch, skip={"another"})):
        answering(Q)
    assert watch.asked == [[0, 1, 2, 3]]


def test_what_is_cleared_is_measured_again(answering: Any, stopwatch: Any) -> None:
    watch = stopwatch()
    for _ in range(2):
        with tuning(Tuner(timed=watch)):
            answering(Q)
        clear()
    assert watch.asked == [[0, 1, 2, 3]] * 2


def test_again_measures_what_is_known(answering: Any, stopwatch: Any) -> None:
    for seconds, wins in ((FASTER[0], 2), ((1e-5, 1e-5, 1e-5, 0.5e-5), 8)):
        with tuning(Tuner(again=True, timed=stopwatch([seconds], noise=0.01))):
            assert _last(answering, Q) == wins


def test_two_threads_of_one_key_measure_it_once(answering: Any, stopwatch: Any) -> None:
    watch, start = stopwatch(FASTER, noise=0.01), threading.Barrier(2)

    def call() -> None:
        with tuning(Tuner(timed=watch)):
            start.wait(10)
            answering(Q)

    threads = [threading.Thread(target=call) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert watch.asked == [[0, 1, 2, 3], [0, 1]]
    assert answering.calls[-2:] == [2, 2]


def test_what_cannot_be_measured_gets_the_default_and_is_said(
    answering: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory")

    tuner = Tuner(timed=broken)
    with tuning(tuner):
        assert _last(answering, Q) == 1
    assert tuner.outcomes[0].problem == "CUDA out of memory"
    assert "answer is not tuned for q=float32 d=64 n<=8: CUDA out of memory" in caplog.text


def test_tensors_that_stand_for_others_are_not_measured(answering: Any, stopwatch: Any) -> None:
    from torch._subclasses import FakeTensorMode

    watch = stopwatch(FASTER, noise=0.01)
    with FakeTensorMode(), tuning(Tuner(timed=watch)):
        assert _last(answering, torch.zeros(5, 64)) == 1
    assert watch.asked == []


def test_while_a_cuda_graph_is_captured_nothing_is_measured(
    answering: Any, stopwatch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = stopwatch(FASTER, noise=0.01)
    monkeypatch.setattr("fictl.tune.tuner.is_captured", lambda tensors: True)
    with tuning(Tuner(timed=watch)):
        assert _last(answering, Q) == 1
    assert watch.asked == []


def test_one_candidate_is_no_choice(declared: Any, stopwatch: Any) -> None:
    watch = stopwatch()
    function = declared(tactics=lambda: [1])
    with tuning(Tuner(timed=watch)):
        function(Q)
    assert watch.asked == []


def test_what_is_saved_is_used_by_another_process(
    answering: Any, stopwatch: Any, monkeypatch: pytest.MonkeyPatch, split: Any
) -> None:
    tuner = Tuner(timed=stopwatch(FASTER, noise=0.01))
    with tuning(tuner):
        answering(Q)
    assert tuner.save() == [recorded.default_path(machine())]
    answering.tactics.forget()
    answering.tactics._tuned.clear()
    assert _last(answering, Q) == 1
    answering.tactics.forget()
    monkeypatch.setenv("FICTL_AUTOTUNER_LOAD_FROM_FILE", "1")
    assert _last(answering, Q) == 2


def test_a_file_has_all_candidates(answering: Any, stopwatch: Any, tmp_path: Path) -> None:
    tuner = Tuner(timed=stopwatch(FASTER, noise=0.01))
    with tuning(tuner):
        answering(Q)
    (path,) = tuner.save(tmp_path / "new" / "tuned.json")
    document = json.loads(path.read_text(encoding="utf-8"))
    (of_op,) = document["ops"].values()
    entry = of_op["keys"]["q=float32 d=64 n<=8"]
    assert entry["winner"] == {"parts": 2}
    medians = [row["median"] for row in entry["candidates"]]
    assert medians == pytest.approx(FASTER[0], rel=0.02)
    assert of_op["kernel"] == recorded.kernel_digest(answering.op)
