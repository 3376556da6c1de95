"""SpreadObserver: callbacks for the progress of commands at places, which the command line shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fictl.farm.spread.command_job import CommandResult


class SpreadObserver:
    """Ignores everything: the default."""

    def done(self, result: CommandResult, done: int, total: int) -> None:
        """One job has a result."""

    def places(self, busy: int, left: int, total: int) -> None:
        """Some places work, and `left` of all may still get work; called often."""

    def note(self, text: str) -> None:
        """Another event, as a place that is left out."""
