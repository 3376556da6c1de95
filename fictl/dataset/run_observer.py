"""RunObserver: callbacks for the progress of a run, which the command line displays."""

from __future__ import annotations

from fictl.dataset.run_outcome import RunOutcome


class RunObserver:
    """Ignores everything: the default. Outcomes come from one thread at a time."""

    def planned(self, total: int, jobs: int, skipped: int) -> None:
        """The run begins: `total` evaluations by `jobs` solutions."""

    def outcome(self, outcome: RunOutcome, done: int, total: int) -> None:
        """One evaluation is done."""

    def places(self, busy: int, left: int, total: int) -> None:
        """Some places work, and `left` of all may still get work; called often."""

    def note(self, text: str) -> None:
        """Another event: a wait for a GPU, or a solution given up."""
