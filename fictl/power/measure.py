"""Energy of the sides of a case: each is repeated alone, as a CUDA graph where it can be one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

from fictl.errors import SetupError
from fictl.power.counter import energy_counter
from fictl.power.energy import Energy, energy_of
from fictl.timing.gpu_state import uuid_of
from fictl.timing.graph import replay_of
from fictl.timing.rotation import Rotation, rotations
from fictl.timing.side import Side
from fictl.timing.timer import Unusable

# Long beside a synchronisation, short beside a step of the counter.
_WORK_SECONDS = 0.01


def measure_energy(
    sides: Mapping[str, Side], seconds: Mapping[str, float], *, device: str, cold: bool
) -> dict[str, Energy]:
    """Measure the energy of one call of each side; `seconds` are the times of a call.

    Copies rotate as they do while times are measured, so that L2 is cold; a flush between calls
    would use energy of its own, and is left out.
    """
    if not device.startswith("cuda"):
        raise SetupError("power is a GPU's: the emulated device has none", "leave --power out")
    counter = energy_counter(uuid_of(device))
    energies: dict[str, Energy] = {}
    for turn in rotations(sides, device, cold=cold):
        repeats = math.ceil(_WORK_SECONDS / (seconds[turn.name] * len(turn.calls)))
        work = _work(replace(turn, flush=None), repeats)
        energies[turn.name] = energy_of(work, repeats * len(turn.calls), counter)
    return energies


def _work(turn: Rotation, repeats: int) -> Callable[[], object]:
    """All calls of the rotation, `repeats` times, waited for."""
    import torch

    try:
        once = replay_of(turn)
    except Unusable:
        once = lambda: [call() for call in turn.calls]  # noqa: E731

    def work() -> None:
        for _ in range(repeats):
            once()
        torch.cuda.synchronize()

    return work
