"""`with fictl.autotune():` as a user writes it, timed by the host's clock."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import torch

import fictl
from fictl.op.tactics import recorded
from fictl.op.tactics.machine import machine
from fictl.op.tactics.records import read

Q = torch.zeros(5, 64)


@pytest.fixture
def function(declared: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Its third tactic is the fast one."""

    def slow(q: Any, out: Any = None, tactic: Any = None) -> Any:
        used.append(tactic.parts)
        time.sleep(0.0005 if tactic.parts == 4 else 0.002)
        return torch.mul(q, 2, out=torch.empty_like(q) if out is None else out)

    used: list[int] = []
    made = declared(slow)
    made.used = used
    return made


def test_the_fast_one_is_found_and_used(function: Any) -> None:
    function(Q)
    assert function.used == [1]
    with fictl.autotune() as tuner:
        function(Q)
    function(Q)
    assert function.used[-2:] == [4, 4]
    assert [outcome.entry.timer for outcome in tuner.outcomes] == ["host"]
    assert not recorded.default_path(machine()).exists()


@pytest.mark.parametrize("named", [True, False])
def test_saved_it_is_in_a_file_even_after_an_error(
    named: bool, function: Any, tmp_path: Path
) -> None:
    path = tmp_path / "mine.json" if named else recorded.default_path(machine())
    with pytest.raises(KeyError), fictl.autotune(save=path if named else True):
        function(Q)
        raise KeyError
    found = read(path)
    assert found is not None
    assert [each.keys.keys() for each in found.ops.values()] == [{"q=float32 d=64 n<=8"}]


def test_a_second_time_nothing_is_measured(function: Any) -> None:
    with fictl.autotune():
        function(Q)
    with fictl.autotune() as tuner:
        function(Q)
    assert tuner.outcomes == []
