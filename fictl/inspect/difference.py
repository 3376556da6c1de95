"""Comparison of the kernels of two revisions: identical code, or changes of their numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fictl.inspect.kernel import InspectedKernel
from fictl.inspect.metrics import METRICS, LaunchSize


@dataclass(frozen=True)
class KernelChange:
    """A number before and now; None if it is not known."""

    name: str
    before: float | None
    now: float | None


@dataclass(frozen=True)
class KernelDifference:
    """One kernel in both revisions, or in one of them; `same` tells that the code is identical."""

    before: InspectedKernel | None
    now: InspectedKernel | None
    changes: tuple[KernelChange, ...] = ()

    @property
    def kernel(self) -> InspectedKernel:
        kernel = self.now or self.before
        assert kernel is not None
        return kernel

    @property
    def same(self) -> bool:
        return bool(self.before and self.now and self.before.code == self.now.code)

    @property
    def status(self) -> str:
        if self.before is None:
            return "new"
        if self.now is None:
            return "gone"
        return "same code" if self.same and not self.changes else "changed"

    def to_dict(self) -> dict[str, Any]:
        changes = {change.name: [change.before, change.now] for change in self.changes}
        kernel = self.kernel
        return {
            "kernel": kernel.name,
            "arch": kernel.arch,
            "status": self.status,
            "changes": changes,
        }


def compare(
    before: Iterable[InspectedKernel], now: Iterable[InspectedKernel], launch: LaunchSize
) -> tuple[KernelDifference, ...]:
    """Compare kernels of the same unit, name and architecture; several with one name, in their
    order.
    """
    old, new = _numbered(before), _numbered(now)
    return tuple(
        _difference(old.get(identity), new.get(identity), launch) for identity in {**new, **old}
    )


def _numbered(kernels: Iterable[InspectedKernel]) -> dict[tuple[object, int], InspectedKernel]:
    counts: Counter[object] = Counter()
    numbered: dict[tuple[object, int], InspectedKernel] = {}
    for kernel in kernels:
        numbered[kernel.identity, counts[kernel.identity]] = kernel
        counts[kernel.identity] += 1
    return numbered


def _difference(
    before: InspectedKernel | None, now: InspectedKernel | None, launch: LaunchSize
) -> KernelDifference:
    changes = _changes(before, now, launch) if before and now else ()
    return KernelDifference(before, now, tuple(changes))


def _changes(
    before: InspectedKernel, now: InspectedKernel, launch: LaunchSize
) -> Iterator[KernelChange]:
    pairs = {
        name: (metric.read(before, launch), metric.read(now, launch))
        for name, metric in METRICS.items()
    }
    for name, pair in pairs.items():
        if pair[0] != pair[1] and pair != pairs.get(METRICS[name].like):
            yield KernelChange(name, *pair)
    for name in _union(before.mix, now.mix):
        counts = before.mix.get(name, 0), now.mix.get(name, 0)
        if counts[0] != counts[1]:
            yield KernelChange(name, *counts)


def _union(*groups: Iterable[str]) -> Sequence[str]:
    return tuple(dict.fromkeys(name for group in groups for name in group))
