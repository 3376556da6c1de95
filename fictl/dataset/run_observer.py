"""How a run says where it is; the command line shows it."""

from __future__ import annotations

from fictl.dataset.run_outcome import RunOutcome


class RunObserver:
    """Hears nothing of it: the default. Outcomes come from one thread at a time."""

    def planned(self, total: int, jobs: int, skipped: int) -> None:
        """So many evaluations of so many solutions are next."""

    def outcome(self, outcome: RunOutcome, done: int, total: int) -> None:
        """One of them is done."""

    def note(self, text: str) -> None:
        """Something else: a GPU that is waited for, a solution that is given up."""
