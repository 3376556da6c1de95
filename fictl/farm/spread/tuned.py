"""Tactics that were tuned at other places, merged into files of this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fictl.errors import FictlError, UsageError
from fictl.farm.spread.command_job import CommandResult
from fictl.farm.spread.readable import readable
from fictl.op.tactics import recorded
from fictl.op.tactics.machine import Machine
from fictl.op.tactics.records import read
from fictl.project import OpFolder
from fictl.tune.file import merge
from fictl.tune.plan import plan

RESULT = "fictl-tuned.json"


@dataclass(frozen=True)
class PlacedTuning:
    """The keys that one place has measured for one op, and the file that has them now."""

    place: str
    gpu: str
    file: Path
    keys: tuple[dict[str, Any], ...]
    error: FictlError | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "place": self.place,
            "gpu": self.gpu,
            "file": str(self.file),
            "keys": [{**key, "place": self.place} for key in self.keys],
        }


def tunable(folders: Sequence[OpFolder], case: str, dtype: str) -> list[OpFolder]:
    """Return the ops that have tactics for these cases; raise UsageError if none has."""
    chosen, errors = [], list[UsageError]()
    for folder in folders:
        try:
            plan([f"{folder.project.name}/{folder.family}/{folder.module}"], case, dtype)
            chosen.append(folder)
        except UsageError as error:
            errors.append(error)
    if not chosen:
        raise errors[0] if errors else UsageError("there is no op here")
    return chosen


def kept_tuning(results: Sequence[CommandResult], file: Path | None) -> list[PlacedTuning]:
    """Merge what came back, each into the file of its own kind of machine, or into `file`."""
    return [_merged(result, file) for result in results if isinstance(result.data, dict)]


def _merged(result: CommandResult, file: Path | None) -> PlacedTuning:
    with readable(result):
        here = Machine(str(result.data["gpu"]), str(result.data["driver"]))
        keys = tuple(map(dict, result.data["keys"]))
    path = file or recorded.default_path(here)
    error = result.error
    packed = result.kept.get(RESULT)
    try:
        if packed is not None:
            _merge(packed, here, path, result.place)
    except FictlError as problem:
        error = problem
    return PlacedTuning(result.place, here.gpu, path, keys, error)


def _merge(packed: Path, here: Machine, path: Path, place: str) -> None:
    document = read(packed)
    problem = document.misfit(here) if document is not None else "it is not there"
    if document is None or problem:
        raise FictlError(f"the results of {place} cannot be used: {problem}")
    merge(path, here, document.ops)
