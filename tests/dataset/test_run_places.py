from __future__ import annotations

from pathlib import Path

import pytest

from fictl.farm.place import Place
from fictl.gpu_lock.visible import LockedGpu
from fictl.trace import TraceSet

from .samples import run


def test_a_gpu_that_others_use_is_left_out_when_the_wait_ends(
    dataset: TraceSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FICTL_GPU_LOCK_DIR", str(tmp_path))
    used, free = (Place(key, {}, LockedGpu(key, key)) for key in ("aa", "bb"))
    with used.held(print, lambda: False):
        summary = run(dataset, slots=(used, free), wait=0.0)
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
