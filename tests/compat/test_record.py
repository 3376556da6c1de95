"""FICTL_RECORD: what a program asks of FlashInfer's modules is recorded, and nothing without it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from fictl.compat.flashinfer import _record
from fictl.compat.flashinfer._record import recorded_value
from fictl.replay.recording.document import Called, GraphEvent, Recording

MODULE, OP = "fictl.compat.flashinfer.cascade", "fictl.kernels.cascade.merge_state.op"


@pytest.fixture
def at_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[Callable[[], None]]]:
    """Functions that run at the end of the program; the setting is on."""
    saves: list[Callable[[], None]] = []
    monkeypatch.setenv("FICTL_RECORD", str(tmp_path / "calls"))
    monkeypatch.setattr(
        "fictl.tracing.saving_at_end.save_at_end", lambda save, forget: saves.append(save)
    )
    for method in ("capture_begin", "capture_end", "replay"):
        monkeypatch.setattr(torch.cuda.CUDAGraph, method, lambda *_: None, raising=False)
    _record._recorder.cache_clear()
    yield saves
    _record._recorder.cache_clear()


def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def test_without_the_setting_a_value_is_itself() -> None:
    assert recorded_value(MODULE, "twice", OP, twice) is twice


def test_calls_are_written_at_the_end_by_flashinfer_s_names(at_end: Any, tmp_path: Path) -> None:
    recorded = recorded_value(MODULE, "twice", OP, twice)
    assert recorded(torch.ones(3)).tolist() == [2.0] * 3
    kind: Any = torch.cuda.CUDAGraph  # Without a GPU there is no object of it.
    kind.replay(object())
    (save,) = at_end
    save()
    (file,) = (tmp_path / "calls").iterdir()
    steps = Recording.read(file).steps
    calls = [step for step in steps if isinstance(step, Called)]
    assert [call.name for call in calls] == ["flashinfer.cascade.twice"]
    assert isinstance(steps[-1], GraphEvent)


def test_what_is_no_op_is_not_recorded(at_end: Any) -> None:
    assert recorded_value(MODULE, "twice", "fictl.compat.flashinfer._numbers", twice) is twice
    assert at_end == []
