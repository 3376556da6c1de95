"""The answer of the remotes to one lookup."""

from __future__ import annotations

from dataclasses import dataclass, field

from fictl.jit.store.entry import Entry


@dataclass
class Pulled:
    """The answer of all remotes: a build, where it is from, or for each remote why not.

    asked: False if nobody was asked, as for what a store has.
    """

    entry: Entry | None = None
    by: str = ""
    reasons: list[str] = field(default_factory=list)
    asked: bool = False

    @property
    def why(self) -> str:
        """Say where the build is from, as a reason like those of a compile."""
        return f"fetched from {self.by}" if self.by else ""
