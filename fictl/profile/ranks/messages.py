"""The request to each rank of a profiled op, and what a rank leaves in its file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fictl.case.messages import CaseRequest
from fictl.errors import FictlError
from fictl.profile.cupti.summary import CuptiSummary
from fictl.profile.cupti.work import ApiCall, Copy, EmulatedCall, Kernel, Work
from fictl.profile.ranks.clocks import RankClock


@dataclass(frozen=True)
class RanksCase:
    """A case that all ranks record. folder: for a file of each rank, as records are many."""

    case: CaseRequest
    device: str
    folder: Path

    def file(self, rank: int) -> Path:
        return self.folder / f"rank{rank}.json"


@dataclass(frozen=True)
class RankRecording:
    """The records of one rank, and its summary; times are by its own clock."""

    summary: CuptiSummary
    clock: RankClock
    kernels: tuple[Kernel, ...] = ()
    copies: tuple[Copy, ...] = ()
    emulated: tuple[EmulatedCall, ...] = ()
    api: tuple[ApiCall, ...] = ()

    @property
    def work(self) -> list[Work]:
        work: list[Work] = [*self.kernels, *self.copies, *self.emulated]
        return sorted(work, key=lambda entry: entry.start)


def of_rank(rank: int, error: FictlError) -> FictlError:
    """Return the same error with the name of its rank."""
    return type(error)(f"rank {rank}: {error.message}", error.hint)
