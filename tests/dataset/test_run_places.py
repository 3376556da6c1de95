from __future__ import annotations

import threading
from pathlib import Path

import pytest

from fictl.dataset.run_observer import RunObserver
from fictl.dataset.run_plan import EvaluationJob
from fictl.farm.place import Place
from fictl.gpu_lock.visible import LockedGpu
from fictl.trace import Evaluation, TraceSet, Workload

from .samples import evaluation, run


def test_a_gpu_that_others_use_is_left_out_when_the_wait_ends(
    dataset: TraceSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FICTL_GPU_LOCK_DIR", str(tmp_path))
    used, free = (Place(key, {}, LockedGpu(key, key)) for key in ("aa", "bb"))
    noted = threading.Event()

    class Observer(RunObserver):
        def note(self, text: str) -> None:
            noted.set()

    def judge(job: EvaluationJob, workload: Workload, slot: Place) -> Evaluation:
        noted.wait(60)  # Otherwise all may be done before the other place asks for its GPU.
        return evaluation()

    with used.held(print, lambda: False):
        summary = run(dataset, judge, slots=(used, free), wait=0.0, observer=Observer())
        assert (dict(summary.statuses), summary.undone) == ({"PASSED": 7}, 0)
        assert "place aa left out: GPU aa is used by" in summary.left_out[0]
        summary = run(dataset, slots=(used,), wait=0.0)
    assert (summary.outcomes, summary.undone) == ([], 7)


def test_no_gpu_is_waited_for_when_nothing_is_left_to_do(
    dataset: TraceSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FICTL_GPU_LOCK_DIR", str(tmp_path))
    used, free = (Place(key, {}, LockedGpu(key, key)) for key in ("aa", "bb"))
    with used.held(print, lambda: False):
        assert len(run(dataset, slots=(used, free)).outcomes) == 7
