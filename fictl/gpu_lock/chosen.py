"""The choice of several GPUs for ranks that talk to each other: those with the fastest links."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from fictl.gpu_lock.visible import LockedGpu, visible

# More ways to choose than this are not compared: the first GPUs are taken.
_MOST_CHOICES = 20_000


@dataclass(frozen=True)
class ChosenGpus:
    """GPUs in CUDA's order; `link` is the slowest between two of them, as NV18, if it is known."""

    gpus: tuple[LockedGpu, ...] = ()
    link: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(gpu.name for gpu in self.gpus)

    @property
    def variables(self) -> dict[str, str]:
        """Return the variables that show a process these GPUs alone."""
        from fictl import settings

        several = len(self.gpus) > 1
        return {settings.CUDA_VISIBLE_DEVICES.name: ",".join(self.names)} if several else {}

    def __str__(self) -> str:
        if len(self.gpus) < 2:
            return ""
        return f"GPUs {', '.join(self.names)}" + (f" ({self.link})" if self.link else "")


NO_GPUS = ChosenGpus()


def chosen(count: int) -> ChosenGpus:
    """Choose this many of the visible GPUs; all of them if there are fewer."""
    gpus = visible()
    if count < 2 or len(gpus) < 2:
        return ChosenGpus(gpus[: max(count, 0)])
    links = _links(gpus)
    return _fastest(gpus, min(count, len(gpus)), links)


def _links(gpus: Sequence[LockedGpu]) -> dict[frozenset[str], str]:
    """Return the links by the keys of two GPUs: CUDA and nvidia-smi may number them differently."""
    from fictl.toolchain.links import read_links
    from fictl.toolchain.smi import read_smi

    smi = read_smi()
    numbers = {row.get("uuid", ""): row.get("index", "") for row in smi.gpus} if smi else {}
    keys = {numbers[name]: gpu.key for gpu in gpus if (name := f"GPU-{gpu.key}") in numbers}
    return {
        frozenset((keys[str(one)], keys[str(other)])): link
        for (one, other), link in read_links().items()
        if str(one) in keys and str(other) in keys
    }


def _fastest(
    gpus: Sequence[LockedGpu], count: int, links: Mapping[frozenset[str], str]
) -> ChosenGpus:
    """Choose by the slowest link, then by all together; the first GPUs if that is the same."""
    from fictl.toolchain.links import speed

    def speeds(group: Sequence[LockedGpu]) -> list[int]:
        return sorted(map(speed, _between(group, links)))

    few = math.comb(len(gpus), count) <= _MOST_CHOICES
    groups = combinations(gpus, count) if few and links else iter([tuple(gpus[:count])])
    best = max(groups, key=lambda group: (speeds(group)[0], sum(speeds(group))))
    return ChosenGpus(best, min(_between(best, links), key=speed))


def _between(group: Sequence[LockedGpu], links: Mapping[frozenset[str], str]) -> Iterator[str]:
    for one, other in combinations(group, 2):
        yield links.get(frozenset((one.key, other.key)), "")
