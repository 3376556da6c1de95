"""Energy of a call, added to the rows of a case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fictl.bench.row import Row
from fictl.case.trial import CaseTrial
from fictl.power.energy import Energy, NoEnergy
from fictl.power.measure import measure_energy

# Gaps between launches use power as well: above this share, a note says so.
_IDLE_SHARE = 0.2


def with_energy(
    rows: Sequence[Row], trials: Sequence[CaseTrial], device: str, *, cold: bool
) -> list[Row]:
    """Measure each side alone; if the counter does not move, a note says so."""
    sides = {trial.contender.name: trial.side for trial in trials}
    seconds = {row.side: row.median for row in rows if row.median}
    try:
        energies = measure_energy(sides, seconds, device=device, cold=cold)
    except NoEnergy as error:
        return [_noted(row, error.message) for row in rows]
    return [_with_energy(row, energies[row.side]) for row in rows]


def _with_energy(row: Row, energy: Energy) -> Row:
    row = replace(row, joules=energy.joules, watts=energy.watts)
    longer = energy.seconds / (row.median or energy.seconds)
    if longer <= 1 + _IDLE_SHARE:
        return row
    return _noted(
        row,
        f"a call took {longer:.1f}x its time while energy was counted: "
        "the joules include the GPU's waiting for launches",
    )


def _noted(row: Row, note: str) -> Row:
    return replace(row, note=" · ".join(filter(None, (row.note, note))))
