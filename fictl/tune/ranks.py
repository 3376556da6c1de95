"""Ranks of one job, which must all choose the same tactic for a call."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NamedTuple

from fictl.log import warn_once
from fictl.op.tactics.spelling import label, spelled
from fictl.op.tactics.tactics import Untuned


class _Choice(NamedTuple):
    """Choice of one rank, sent to the others."""

    call: str
    winner: str
    usable: frozenset[str]


@dataclass(frozen=True)
class TuningRanks:
    """A process group of two or more ranks, which make the same calls in the same order."""

    group: Any
    rank: int
    size: int

    @classmethod
    def of(cls, group: Any = None) -> TuningRanks | None:
        """Return the ranks of the group; None without torch.distributed or with a single rank."""
        import torch.distributed as dist

        if not (dist.is_available() and dist.is_initialized()) or dist.get_world_size(group) < 2:
            return None
        return cls(group, dist.get_rank(group), dist.get_world_size(group))

    def agree(self, call: Untuned, winner: int, refused: Collection[int]) -> int:
        """Agree on the first rank's winner if every rank can use it; else on the default."""
        import torch.distributed as dist

        labels = [label(spelled(tactic)) for tactic in call.candidates]
        usable = frozenset(name for i, name in enumerate(labels) if i not in refused)
        gathered: list[Any] = [None] * self.size
        own = _Choice(f"{call.tactics.op.api} {call.text}", labels[winner], usable)
        dist.all_gather_object(gathered, tuple(own), group=self.group)
        choices = [_Choice(*fields) for fields in gathered]
        return labels.index(choices[0].winner) if _agree(choices) else 0


def _agree(choices: list[_Choice]) -> bool:
    if len({choice.call for choice in choices}) > 1:
        calls = "; ".join(f"rank {rank}: {choice.call}" for rank, choice in enumerate(choices))
        warn_once(f"ranks tune different calls, and get the default: {calls}")
        return False
    return all(choices[0].winner in choice.usable for choice in choices)
