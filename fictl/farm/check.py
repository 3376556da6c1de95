"""Facts and problems of each place, for `fictl farm check`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fictl.farm.compilers import compilers_here, difference
from fictl.farm.facts import kernels_digest
from fictl.farm.line import Greeting, Ready
from fictl.farm.opening import OpenPlace, close_all, open_all
from fictl.farm.place import Place

_LEAST_BYTES = 1 << 30


@dataclass(frozen=True)
class CheckedPlace:
    """A place with its facts; `problems` keep it from work, `notes` do not."""

    place: Place
    ready: Ready | None
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        facts = asdict(self.ready) if self.ready is not None else None
        return {
            "place": self.place.name,
            "ok": not self.problems,
            "problems": list(self.problems),
            "notes": list(self.notes),
            "facts": facts,
        }


def check_places(
    places: Sequence[Place], device: str, untrusted: bool = False
) -> list[CheckedPlace]:
    """Start each place once; ask it for what decides whether it can work."""
    opened = open_all(places, lambda place: Greeting(device, checks=True, compiles=device))
    close_all(opened)
    here = compilers_here(device)
    return [_checked(one, untrusted, here) for one in opened]


def _checked(one: OpenPlace, untrusted: bool, here: Mapping[str, str]) -> CheckedPlace:
    ready = one.ready
    if ready is None:
        return CheckedPlace(one.place, None, (one.why,))
    problems: list[str] = []
    notes: list[str] = []
    if ready.free_bytes < _LEAST_BYTES:
        problems.append(f"{ready.free_bytes >> 20} MiB are free where its cache is")
    if ready.exposed:
        (problems if untrusted else notes).append(ready.exposed)
    if ready.kernels != kernels_digest():
        notes.append("its shipped ops differ from those here: build, test and bench leave it out")
    if here and (what := difference(here, ready.toolchain)):
        notes.append(f"its compilers differ from those here: {what}: builds leave it out")
    if ready.unlocked:
        problems.append(f"its GPU cannot be locked: {ready.unlocked}")
    if ready.holder:
        notes.append(ready.holder)
    return CheckedPlace(one.place, ready, tuple(problems), tuple(notes))
