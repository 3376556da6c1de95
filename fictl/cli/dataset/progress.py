"""A run as it goes: a bar on a terminal, a line for each result on a pipe; all on stderr."""

from __future__ import annotations

from fictl.cli import console
from fictl.cli.places_bar import PlacesBar
from fictl.dataset.run_observer import RunObserver
from fictl.dataset.run_outcome import RunOutcome
from fictl.quantity import counted


class RunProgress(PlacesBar, RunObserver):
    """A bar with the last result on a terminal, a line a result on a pipe; one place alone is not named."""

    def planned(self, total: int, jobs: int, skipped: int) -> None:
        if not self._quiet:
            before = f", {skipped} evaluated before" if skipped else ""
            words = f"{counted(jobs, 'solution')}, {counted(total, 'evaluation')}{before}"
            console.note(words)

    def outcome(self, outcome: RunOutcome, done: int, total: int) -> None:
        if self._quiet:
            return
        if self._bar.on_terminal:
            words = f"{outcome.definition}  {outcome.solution}{self._places}"
            self._bar.update(done, total, words)
            if not outcome.passed:
                console.note(_line(outcome))
        else:
            at = f"  at {outcome.place}" if self._places and outcome.place else ""
            console.note(f"{done}/{total}  {_line(outcome)}{at}")

    def places(self, busy: int, left: int, total: int) -> None:
        if total > 1:
            super().places(busy, left, total)


def _line(outcome: RunOutcome) -> str:
    document = outcome.to_dict()
    words = [outcome.status, outcome.definition, outcome.solution, outcome.workload]
    if document["latency_ms"] is not None:
        words.append(f"{document['latency_ms']:.4g} ms")
    if document["speedup"]:
        words.append(f"{document['speedup']:.2f}x")
    return "  ".join([*words, *filter(None, [outcome.error or _cause(outcome)])])


def _cause(outcome: RunOutcome) -> str:
    from fictl.dataset.report.result import cause

    return "" if outcome.evaluation is None or outcome.passed else cause(outcome.evaluation.log)
