"""The places of a run: those of this machine, or those of --on, and what is left out."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from fictl.dataset.previous import kind_of
from fictl.dataset.run_options import RunOptions
from fictl.errors import SetupError, UsageError
from fictl.farm.line import Greeting
from fictl.farm.opening import OpenPlace, close_all, greeting_of, open_all
from fictl.farm.place import Place, places_here
from fictl.farm.places_file import places_of
from fictl.farm.serve.building import CORES_EACH
from fictl.jit.jobs import usable_cores


def _new_run() -> str:
    return secrets.token_hex(8)


@dataclass
class RunPlaces:
    """`kinds`: hardware to evaluate on, one after the other names; empty where one kind does.

    `open` has the workers that were started already, by place. `run` is a name that no other run has.
    """

    places: tuple[Place, ...]
    kinds: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    open: dict[str, OpenPlace] = field(default_factory=dict)
    run: str = field(default_factory=_new_run)

    def hardware_of(self, kind: str) -> frozenset[str]:
        """Names of the hardware of a kind; none if one of them is unknown."""
        names = frozenset(p.hardware for p in self.places if not kind or p.is_a(kind))
        return frozenset() if "" in names else names

    def builds_at(self, place: Place, jobs: int) -> int:
        """Return how many builds a place's worker makes at once; 0 leaves it to the worker.

        Places of this machine share its cores.
        """
        if not place.is_here:
            return jobs
        here = sum(place.is_here for place in self.places)
        return max(1, (jobs or usable_cores() // CORES_EACH) // max(1, here))

    def close(self) -> None:
        """End the workers that nobody has taken."""
        close_all([*self.open.values()])


def places_of_run(options: RunOptions, note: Callable[[str], object]) -> RunPlaces:
    """Find the places; start those of other machines, so that their hardware is known."""
    if not options.on:
        return _chosen(places_here(options.device, options.gpus), {}, options, ())
    if options.gpus:
        raise UsageError("--gpus names GPUs of this machine, and --on places", "leave one out")
    places = places_of(options.on, options.device)
    unknown = [place for place in places if not place.hardware]
    device = kind_of(options.device)
    untrusted = bool(options.flags.get("untrusted"))
    run = _new_run()

    def greeting(place: Place) -> Greeting:
        greeted = greeting_of(place, device, options.wait, untrusted)
        return replace(greeted, run=run, builds=options.jobs)

    opened = open_all(unknown, greeting, note)
    started = {one.place.name: one for one in opened if one.connection is not None}
    lost = tuple(f"place {p.place.name} left out: {p.why}" for p in opened if p.problem)
    usable = tuple(
        started[place.name].place if place.name in started else place
        for place in places
        if place.hardware or place.name in started
    )
    try:
        return replace(_chosen(usable, started, options, lost), run=run)
    except BaseException:
        close_all([*started.values()])
        raise


def _chosen(
    places: tuple[Place, ...],
    started: dict[str, OpenPlace],
    options: RunOptions,
    lost: tuple[str, ...],
) -> RunPlaces:
    """Keep the places of the hardware asked for; without a choice, of that of the first."""
    if not places:
        raise SetupError(f"no place can be used: {_shortly(lost)}", "fictl farm check")
    kinds = options.hardware
    for kind in kinds:
        if not any(place.is_a(kind) for place in places):
            there = ", ".join(sorted({place.hardware for place in places}))
            raise SetupError(f"no place has the hardware {kind}", f"there is {there}")
    if not kinds and not options.on:
        return RunPlaces(places, (), lost, started)
    kept = [place for place in places if _is_meant(place, kinds, places[0])]
    others = [place for place in places if place not in kept]
    close_all([started.pop(place.name) for place in others if place.name in started])
    notes = tuple(
        f"place {place.name} left out: it has {place.hardware}, and this run is for "
        f"{', '.join(kinds) or places[0].hardware} (--hardware names several)"
        for place in others
    )
    return RunPlaces(tuple(kept), kinds, (*lost, *notes), started)


def _is_meant(place: Place, kinds: Sequence[str], first: Place) -> bool:
    if kinds:
        return any(place.is_a(kind) for kind in kinds)
    return place.hardware == first.hardware


def _shortly(notes: Sequence[str]) -> str:
    more = f"; and {len(notes) - 3} more" if len(notes) > 3 else ""
    return "; ".join(notes[:3]) + more
