"""Reports of the emulated device: one defect each, with its thread and its source line."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fictl.emu.barrier_names import barrier_name, renamed
from fictl.emu.describe import cause, describe
from fictl.emu.places import true_path
from fictl.emu.symbols import Frame, frames, is_of_toolkit, plain_name

Chains = dict[str, dict[int, tuple[Frame, ...]]]


@dataclass(frozen=True)
class Place:
    """A source line, the inlined calls that led to it, and those within it, innermost first."""

    file: str = ""
    line: int = 0
    callers: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file or "an unknown line"

    @classmethod
    def among(cls, frames: Sequence[tuple[str, int]], *, own: Callable[[str], bool]) -> Place:
        """Choose the innermost line of an own file; the innermost of all if there is none."""
        at = next((at for at, (file, _) in enumerate(frames) if own(file)), 0)
        spelled = [f"{file}:{line}" for file, line in frames]
        return cls(*frames[at], tuple(spelled[at + 1 :]), tuple(spelled[:at]))

    def lines(self) -> list[str]:
        """Return the lines of a report on it."""
        within = (f"  in {frame}" for frame in self.inside)
        return [f"at {self}", *within, *(f"  called at {caller}" for caller in self.callers)]


@dataclass(frozen=True)
class Thread:
    """One thread of the grid."""

    block: tuple[int, int, int]
    thread: tuple[int, int, int]

    def __str__(self) -> str:
        return f"block {_triple(self.block)}, thread {_triple(self.thread)}"


@dataclass(frozen=True)
class Other:
    """The other side of a conflict."""

    what: str
    place: Place
    at: Thread | None


@dataclass(frozen=True)
class Report:
    """One defect. kind: a word of describe.py. facts: further values from the runtime."""

    kind: str
    kernel: str
    what: str
    cause: str
    place: Place
    at: Thread | None = None
    other: Other | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    def text(self) -> str:
        """Return the report for people: headline, place, other side, cause."""
        lines = [f"{self.kind}: {self.what}"]
        where = f"kernel {self.kernel}" if self.kernel else ""
        if "rank" in self.facts:
            where = ", ".join(filter(None, (where, f"rank {self.facts['rank']}")))
        lines += [", ".join(filter(None, (where, str(self.at or ""))))] if where or self.at else []
        lines += self.place.lines()
        if self.other:
            by = f", {self.other.at}" if self.other.at else ""
            lines.append(f"{self.other.what} at {self.other.place}{by}")
        groups = self.facts.get("groups", ())
        lines += [f"threads {group['threads']} {group['what']}" for group in groups]
        lines += [f"cause: {self.cause}"] if self.cause else []
        return "\n  ".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        data: dict[str, Any] = {
            "kind": self.kind,
            "kernel": self.kernel,
            "what": self.what,
            "cause": self.cause,
            **_place(self.place),
            **_thread(self.at),
        }
        if self.other:
            other = {"what": self.other.what, **_place(self.other.place), **_thread(self.other.at)}
            data["other"] = other
        return {**data, **{key: self.facts[key] for key in self.facts if key not in data}}


def read_reports(lines: str) -> list[Report]:
    """Parse the runtime's JSON lines; code offsets become source lines."""
    rows = [json.loads(line) for line in lines.splitlines()]
    chains = _chains(place for row in rows for place in _places(row))
    return [_report(_named(row, chains), chains) for row in rows]


def _report(row: dict[str, Any], chains: Chains) -> Report:
    known = (
        "kind",
        "kernel",
        "function",
        "stack",
        "at",
        "file",
        "line",
        "place",
        "other",
        "what",
        "cause",
    )
    facts = {name: value for name, value in row.items() if name not in known}
    if "groups" in facts:
        facts["groups"] = [_group(group, chains) for group in facts["groups"]]
    other = row.get("other")
    return Report(
        kind=row["kind"],
        kernel=_kernel(row, chains),
        what=row.get("what") or describe(row["kind"], facts),
        cause=row.get("cause") or cause(row["kind"], facts),
        place=_site(row, chains),
        at=_at(row),
        other=Other(other["what"], _site(other, chains), _at(other)) if other else None,
        facts=facts,
    )


def _named(row: dict[str, Any], chains: Chains) -> dict[str, Any]:
    """Return the report with the source's names for its mbarriers."""
    names = {}
    for barrier in row.pop("barriers", ()):
        known = {one["offset"]: _chain(one["place"], chains) for one in barrier["all"]}
        names[barrier["name"]] = barrier_name(known, barrier["offset"])
    return renamed(row, names)


def _places(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    other = row.get("other", {}).get("place")
    groups = (group.get("place") for group in row.get("groups", ()))
    barriers = (one["place"] for barrier in row.get("barriers", ()) for one in barrier["all"])
    own = (row.get("function"), row.get("place"), other)
    places = (*own, *row.get("stack", ()), *groups, *barriers)
    return (place for place in places if place and "module" in place)


def _chains(places: Iterable[dict[str, Any]]) -> Chains:
    offsets: dict[str, set[int]] = defaultdict(set)
    for place in places:
        offsets[place["module"]].add(place["offset"])
    return {module: frames(module, wanted) for module, wanted in offsets.items()}


def _kernel(row: dict[str, Any], chains: Chains) -> str:
    """Return the kernel's function name if known, else its name as written in the launch."""
    function = [frame.function for frame in _chain(row.get("function", {}), chains)]
    calls = (frame for place in row.get("stack", ()) for frame in _chain(place, chains))
    # The kernel's callers are the lambda that replaced the launch, and the emulator.
    called = [call.function for call in calls if call.is_of_source]
    return next(iter(function[-1:] or called[-1:]), plain_name(row.get("kernel", "")))


def _chain(place: dict[str, Any], chains: Chains) -> tuple[Frame, ...]:
    return chains.get(place.get("module", ""), {}).get(place.get("offset", -1), ())


def _site(row: dict[str, Any], chains: Chains) -> Place:
    if "file" in row:
        return Place(true_path(row["file"]), row["line"])
    place = row.get("place", {})
    chain = _chain(place, chains)
    ours = [frame for frame in chain if not frame.is_emulator] or list(chain)
    if not ours and "module" not in place:
        return Place()
    if not ours:
        return Place(f"{Path(place['module']).name}+{place['offset']:#x}")
    return Place.among(
        [(frame.file, frame.line) for frame in ours], own=lambda file: not is_of_toolkit(file)
    )


def _group(group: dict[str, Any], chains: Chains) -> dict[str, Any]:
    """Return a group of threads; what it does ends with the place of its code, if it has one."""
    what = group["what"]
    if "place" in group:
        place = _site(group, chains)
        what = ", ".join([what, str(place), *(f"called at {caller}" for caller in place.callers)])
    return {"threads": group["threads"], "what": what}


def _at(row: dict[str, Any]) -> Thread | None:
    at = row.get("at")
    return Thread(tuple(at["block"]), tuple(at["thread"])) if at else None


def _place(place: Place) -> dict[str, Any]:
    return {
        "file": place.file,
        "line": place.line,
        "callers": list(place.callers),
        "inside": list(place.inside),
    }


def _thread(at: Thread | None) -> dict[str, Any]:
    return {"block": at.block, "thread": at.thread} if at else {"block": None, "thread": None}


def _triple(values: tuple[int, int, int]) -> str:
    return f"({','.join(map(str, values))})"
