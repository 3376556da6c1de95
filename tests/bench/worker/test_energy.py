from __future__ import annotations

from collections.abc import Callable

import pytest

from fictl.bench.bench_ops import bench
from fictl.bench.options import BenchOptions
from fictl.bench.row import Row
from fictl.bench.worker import energy as module
from fictl.bench.worker.energy import with_energy
from fictl.errors import UsageError
from fictl.power.energy import Energy, NoEnergy


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Callable[[Energy], None]:
    def use(energy: Energy) -> None:
        monkeypatch.setattr(module, "measure_energy", lambda *args, **kwargs: {"fictl": energy})

    return use


def test_a_row_has_the_energy_of_a_call(make_row, measured) -> None:
    row = make_row(samples=(1e-4,) * 6, flops=10**11)
    measured(Energy(joules=0.06, watts=600.0, seconds=1e-4))
    (row,) = with_energy([row], [], "cuda", cold=True)
    assert (row.joules, row.watts, row.note) == (0.06, 600.0, "")
    assert row.tflops_per_watt == pytest.approx(1e11 / 0.06 / 1e12)
    assert row.to_dict()["tflops_per_watt"] == row.tflops_per_watt


def test_gaps_between_launches_are_noted(make_row, measured) -> None:
    measured(Energy(joules=0.06, watts=200.0, seconds=3e-4))
    (row,) = with_energy([make_row(samples=(1e-4,) * 6)], [], "cuda", cold=True)
    assert row.note.startswith("a call took 3.0x its time while energy was counted")


def test_a_counter_that_stands_still_leaves_the_times(make_row, monkeypatch) -> None:
    def still(*args: object, **kwargs: object) -> None:
        raise NoEnergy("the energy counter moved 0 times within 10 s of work")

    monkeypatch.setattr(module, "measure_energy", still)
    (row,) = with_energy([make_row(note="before")], [], "cuda", cold=True)
    assert row.joules is None
    assert row.samples
    assert row.note == "before · the energy counter moved 0 times within 10 s of work"


def test_what_is_refused_keeps_no_energy(make_row: Callable[..., Row]) -> None:
    row = make_row(joules=1.0, watts=2.0).refused("wrong", "why")
    assert (row.joules, row.watts, row.tflops_per_watt) == (None, None, None)


def test_the_emulated_device_is_refused(hostile, monkeypatch) -> None:
    with pytest.raises(UsageError, match="--power: the emulated device uses no power"):
        bench(["right"], BenchOptions(power=True))
