"""The launcher of ranks as its parent sees it: its command line, and how a rank has ended."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from fictl.process import ending
from fictl.ranks.group import TOLD


@dataclass(frozen=True)
class RankEnded:
    """The end of a rank's process, by its exit code."""

    rank: int
    code: int

    def __str__(self) -> str:
        return f"rank {self.rank} ended with {ending(self.code)}"


@dataclass(frozen=True)
class Launched:
    """Ranks that one launcher starts; `report` is a file of its own."""

    ranks: int
    report: Path

    @property
    def words(self) -> tuple[str, ...]:
        """Return the words before the command of each rank."""
        own = ("--ranks", str(self.ranks), "--report", str(self.report), "--")
        return (sys.executable, "-m", "fictl.ranks.launch", *own)

    def ended(self) -> RankEnded | None:
        """Return the rank that was the first to end badly, but for one that has told a verdict."""
        if not os.path.isfile(self.report):
            return None
        document = json.loads(self.report.read_text(encoding="utf-8"))
        ended = RankEnded(int(document["rank"]), int(document["code"]))
        return None if ended.code == TOLD else ended
