"""The calls that are recorded, and those before them."""

from __future__ import annotations

import pytest

from fictl.profile.cupti import recording
from fictl.profile.cupti.recorder import Recorder
from fictl.profile.cupti.work import BETWEEN
from fictl.timing.rotation import Rotation


@pytest.fixture(autouse=True)
def _warm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "WARM_UP_SECONDS", 0.0)


def test_so_many_calls_are_recorded_over_the_copies_in_turn(cupti):
    grids = [(1, 1, 1), (2, 1, 1)]
    calls = tuple(lambda x=x: cupti.launch(grid_x=x) for x, _, _ in grids)
    profile = recording.record(Rotation("op", calls, cold=True), 5)
    assert [kernel.grid[0] for kernel in profile.kernels] == [1, 2, 1, 2, 1]
    assert [kernel.call for kernel in profile.kernels] == [0, 1, 2, 3, 4]
    assert profile.summary.calls == 5


def test_the_first_call_finds_its_copy_as_cold_as_the_others_do(cupti):
    used: list[int] = []
    calls = tuple(lambda i=i: (used.append(i), cupti.launch()) for i in range(3))
    recording.record(Rotation("op", calls, cold=True), 2)
    assert used == [0, 1, 2, 2, 0, 1]


def test_what_makes_l2_cold_is_of_no_call(cupti):
    flush = lambda: cupti.launch("MEMSET", bytes=1 << 27)  # noqa: E731
    profile = recording.record(Rotation("op", (cupti.launch,), cold=True, flush=flush), 2)
    assert [work.call for work in profile.work] == [BETWEEN, 0, BETWEEN, 1]
    assert profile.summary.copies == ()


def test_ranks_warm_up_as_long_as_the_slowest(cupti, monkeypatch):
    """All have to make equally many calls, or one would wait for ever."""
    monkeypatch.setattr(recording, "WARM_UP_SECONDS", 0.1)
    made: list[str] = []
    turn = Rotation("op", (lambda: made.append("call"),), cold=False)
    slowest = iter([0.01, 0.05, 1.0])
    recording.warm_up(turn, Recorder(), lambda seconds: next(slowest))
    assert made == ["call"] * 3
