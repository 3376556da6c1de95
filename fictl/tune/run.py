"""`fictl tune`: the tactics of ops timed over their cases, and the file of what came of it."""

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
from fictl.tune.plan import Work
from fictl.tune.tuner import Outcome, Tuner


@dataclass(frozen=True)
class Tuning:
    """What was measured on which machine, and where it is written."""

    machine: Machine
    file: Path
    outcomes: tuple[Outcome, ...]
    notes: tuple[str, ...] = ()

    @property
    def failed(self) -> list[Outcome]:
        return [each for each in self.outcomes if each.problem]

    def to_dict(self) -> dict[str, Any]:
        return {
            "gpu": self.machine.gpu,
            "driver": self.machine.driver,
            "file": str(self.file),
            "keys": [each.to_dict() for each in self.outcomes],
            "notes": list(self.notes),
        }


def file_in_use(path: Path | None = None) -> Path:
    return path or recorded.default_path(machine())


def tune(
    work: Collection[Work],
    path: Path | None = None,
    done: Callable[[Outcome], object] | None = None,
    tuner: Tuner | None = None,
) -> Tuning:
    """What was tuned before is measured again. What was measured before an error is kept."""
    tuner = tuner or Tuner(again=True, done=done)
    try:
        for each in work:
            with tuning(tuner):
                _call(each)
    finally:
        tuner.save(path)
    return Tuning(machine(), file_in_use(path), tuple(tuner.outcomes), tuple(_notes()))


def _notes() -> Iterator[str]:
    """What makes the times doubtful."""
    if settings.DEVICE.get() == "emu":
        yield "emulated: these are times of the host, not of a GPU"
        return
    state = gpu_state()
    if state and state.others:
        yield f"other processes use this GPU: {', '.join(map(str, state.others))}"
    if state and state.throttled:
        yield f"the GPU slowed itself down: {', '.join(state.throttled)}"


def _call(work: Work) -> None:
    place = "cpu" if settings.DEVICE.get() == "emu" else "cuda"
    inputs = case_inputs(work.tactics.op.template, work.case, place)
    plan, run = bind(work.function, inputs)
    plan()
    run()
