"""The difference of two profiles: kernels paired by name, and what changed of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from fictl.errors import UsageError
from fictl.profile.difference.facts import KernelFacts
from fictl.profile.difference.saved import SavedCase

# The same kernel as exactly as it can be told: then whatever its arguments, then whatever its template's.
_KEYS: tuple[Callable[[KernelFacts], object], ...] = (
    lambda kernel: (kernel.name, kernel.grid, kernel.block),
    lambda kernel: kernel.name,
    lambda kernel: kernel.short,
)


@dataclass(frozen=True)
class Change:
    """A number before and after; None where that run does not have it."""

    name: str
    before: float | None
    after: float | None

    @property
    def ratio(self) -> float | None:
        if not self.before or self.after is None:
            return None
        ratio = self.after / self.before
        return ratio if isfinite(ratio) else None

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "ratio": self.ratio}


@dataclass(frozen=True)
class KernelChange:
    """A kernel of both runs, or of one: `before` or `after` is None."""

    before: KernelFacts | None
    after: KernelFacts | None

    @property
    def name(self) -> str:
        facts = self.after or self.before
        assert facts is not None
        return facts.name

    @property
    def time(self) -> Change:
        """Seconds of all its launches in a call."""
        return Change("seconds", _whole(self.before), _whole(self.after))

    @property
    def stalls(self) -> list[Change]:
        """Stalls in percent of a warp's time, the one that changed most first."""
        changes = self._changes(lambda kernel: kernel.stalls)
        return sorted(changes, key=lambda change: -abs((change.after or 0) - (change.before or 0)))

    @property
    def bytes(self) -> list[Change]:
        return self._changes(lambda kernel: kernel.bytes)

    @property
    def numbers(self) -> list[Change]:
        return self._changes(lambda kernel: {"launches": kernel.launches, **kernel.numbers})

    def _changes(self, part: Callable[[KernelFacts], Mapping[str, float]]) -> list[Change]:
        before, after = (part(kernel) if kernel else {} for kernel in (self.before, self.after))
        return [Change(name, before.get(name), after.get(name)) for name in {**before, **after}]

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "before": self.before.to_dict() if self.before else None,
            "after": self.after.to_dict() if self.after else None,
            "seconds": self.time.to_dict(),
            "stalls": [change.to_dict() for change in self.stalls],
            "bytes": [change.to_dict() for change in self.bytes],
            "numbers": [change.to_dict() for change in self.numbers],
        }


@dataclass(frozen=True)
class CaseChange:
    """A case of both runs; kernels with the largest change of time first."""

    op: str
    case: str
    tool: str
    time: Change
    kernels: tuple[KernelChange, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "op": self.op,
            "case": self.case,
            "tool": self.tool,
            "seconds": self.time.to_dict(),
            "kernels": [kernel.to_dict() for kernel in self.kernels],
        }


@dataclass(frozen=True)
class ProfileDifference:
    """Cases of both runs, and those of one of them alone."""

    cases: tuple[CaseChange, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "cases": [case.to_dict() for case in self.cases],
            "only_before": list(self.only_before),
            "only_after": list(self.only_after),
        }


def difference(before: Sequence[SavedCase], after: Sequence[SavedCase]) -> ProfileDifference:
    """Compare two runs case by case; refuse two that have nothing in common."""
    old, new = ({case.case: case for case in run if case.result} for run in (before, after))
    both = [name for name in new if name in old]
    if not both:
        had, has = (", ".join([*run][:3]) or "nothing" for run in (old, new))
        raise UsageError(
            f"the runs have no case in common: {had} before, {has} after", "--case chooses one"
        )
    return ProfileDifference(
        tuple(_case(old[name], new[name]) for name in both),
        tuple(name for name in old if name not in new),
        tuple(name for name in new if name not in old),
    )


def _case(before: SavedCase, after: SavedCase) -> CaseChange:
    if before.tool != after.tool:
        raise UsageError(
            f"{after.case} was profiled by {before.tool} before, and by {after.tool} after",
            f"profile it with --tool {before.tool}",
        )
    pairs = sorted(_paired(before.kernels(), after.kernels()), key=_size)
    time = Change("seconds", before.seconds, after.seconds)
    return CaseChange(after.op, after.case, after.tool, time, tuple(pairs))


def _paired(before: list[KernelFacts], after: list[KernelFacts]) -> Iterator[KernelChange]:
    for key in _KEYS:
        for kernel in list(after):
            other = next((one for one in before if key(one) == key(kernel)), None)
            if other is not None:
                before.remove(other)
                after.remove(kernel)
                yield KernelChange(other, kernel)
    yield from (KernelChange(kernel, None) for kernel in before)
    yield from (KernelChange(None, kernel) for kernel in after)


def _size(kernel: KernelChange) -> float:
    return -abs((kernel.time.after or 0.0) - (kernel.time.before or 0.0))


def _whole(kernel: KernelFacts | None) -> float | None:
    return kernel.seconds * kernel.launches if kernel and kernel.seconds is not None else None
