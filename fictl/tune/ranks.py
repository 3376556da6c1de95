"""Ranks of one job: they launch the same tactic for the same call, as their next collective waits."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NamedTuple

from fictl.log import warn_once
from fictl.op.tactics.spelling import label, spelled
from fictl.op.tactics.tactics import Untuned


class _Said(NamedTuple):
    """What one rank tells the others."""

    call: str
    winner: str
    usable: frozenset[str]


@dataclass(frozen=True)
class Ranks:
    """Of a process group of several; they all make the same calls, in the same order."""

    group: Any
    rank: int
    size: int

    @classmethod
    def of(cls, group: Any = None) -> Ranks | None:
        """None without torch.distributed, or alone."""
        import torch.distributed as dist

        if not (dist.is_available() and dist.is_initialized()) or dist.get_world_size(group) < 2:
            return None
        return cls(group, dist.get_rank(group), dist.get_world_size(group))

    def agree(self, call: Untuned, winner: int, refused: Collection[int]) -> int:
        """The first rank's winner, if every rank can use it; else the default."""
        import torch.distributed as dist

        labels = [label(spelled(each)) for each in call.candidates]
        usable = frozenset(each for i, each in enumerate(labels) if i not in refused)
        said: list[Any] = [None] * self.size
        own = _Said(f"{call.tactics.op.api} {call.text}", labels[winner], usable)
        dist.all_gather_object(said, tuple(own), group=self.group)
        found = [_Said(*each) for each in said]
        return labels.index(found[0].winner) if _agreed(found) else 0


def _agreed(found: list[_Said]) -> bool:
    if len({each.call for each in found}) > 1:
        calls = "; ".join(f"rank {rank}: {each.call}" for rank, each in enumerate(found))
        warn_once(f"ranks tune different calls, and get the default: {calls}")
        return False
    return all(found[0].winner in each.usable for each in found)
