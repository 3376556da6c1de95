"""`fictl tune`: time the tactics of ops over their cases and write the results to a file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fictl import settings
from fictl.case.inputs import case_inputs
from fictl.op.bound import bind
from fictl.op.tactics import recorded
from fictl.op.tactics.machine import Machine, machine
from fictl.op.tactics.tuning import tuning
from fictl.timing.gpu_state import gpu_state
from fictl.tune.plan import TuningWork
from fictl.tune.tuner import Tuner, TuningOutcome


@dataclass(frozen=True)
class Tuning:
    """Results of tuning on one machine, and the file that contains them."""

    machine: Machine
    file: Path
    outcomes: tuple[TuningOutcome, ...]
    notes: tuple[str, ...] = ()

    @property
    def failed(self) -> list[TuningOutcome]:
        return [outcome for outcome in self.outcomes if outcome.problem]

    def to_dict(self) -> dict[str, Any]:
        return {
            "gpu": self.machine.gpu,
            "driver": self.machine.driver,
            "file": str(self.file),
            "keys": [outcome.to_dict() for outcome in self.outcomes],
            "notes": list(self.notes),
        }


def file_in_use(path: Path | None = None) -> Path:
    return path or recorded.default_path(machine())


def tune(
    work: Collection[TuningWork],
    path: Path | None = None,
    done: Callable[[TuningOutcome], object] | None = None,
    tuner: Tuner | None = None,
) -> Tuning:
    """Measure every key of the plan, tuned or not; results before an error are kept."""
    tuner = tuner or Tuner(again=True, done=done)
    try:
        for item in work:
            with tuning(tuner):
                _call(item)
    finally:
        tuner.save(path)
    return Tuning(machine(), file_in_use(path), tuple(tuner.outcomes), tuple(_notes()))


def _notes() -> Iterator[str]:
    """Yield reasons to doubt the times."""
    if settings.DEVICE.get() == "emu":
        yield "emulated: these are times of the host, not of a GPU"
        return
    state = gpu_state()
    if state and state.others:
        yield f"other processes use this GPU: {', '.join(map(str, state.others))}"
    if state and state.throttled:
        yield f"the GPU slowed itself down: {', '.join(state.throttled)}"


def _call(work: TuningWork) -> None:
    place = "cpu" if settings.DEVICE.get() == "emu" else "cuda"
    inputs = case_inputs(work.tactics.op.template, work.case, place)
    plan, run = bind(work.function, inputs)
    plan()
    run()
