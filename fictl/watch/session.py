"""The loop: wait for a save, run the steps, repeat; errors on the way do not end it."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue

from fictl.watch.answer import Answer
from fictl.watch.history import Cycle, History
from fictl.watch.made_of import MadeOf
from fictl.watch.observer import WatchObserver
from fictl.watch.outcome import outcome_of
from fictl.watch.request import WatchRequest
from fictl.watch.saves import Saves
from fictl.watch.step_process import Step
from fictl.watch.steps import Steps

# A save makes several events, and an editor may save several files: events this close are one save.
_QUIET_SECONDS, _BURST_SECONDS = 0.025, 0.075
# Interval of the checks for replaced folders.
_LOOK_SECONDS = 1.0


@dataclass(frozen=True)
class _Ended:
    """The step with this number has ended."""

    number: int


@dataclass
class WatchSession:
    """The loop of a watch. `steps` runs the commands of `request`; `history` remains
    after any end.
    """

    request: WatchRequest
    made_of: MadeOf
    steps: Steps
    observer: WatchObserver
    history: History = field(default_factory=History)
    _inbox: SimpleQueue[Path | _Ended] = field(default_factory=SimpleQueue)
    _contents: dict[Path, str] = field(default_factory=dict)
    _next: tuple[Path, ...] = ()
    _begun: int = 0

    def once(self) -> int:
        """Run once, regardless of saves in the meantime; return the exit code."""
        return self._cycle((), None).exit_code

    def watch(self) -> None:
        """Run after every save, until the user interrupts."""
        with suppress(KeyboardInterrupt), Saves(self.made_of.places(), self._inbox.put) as saves:
            self._contents = self.made_of.contents()
            self.observer.watching(sorted(self._contents), saves.polling)
            saved: tuple[Path, ...] = ()
            while True:
                self._cycle(saved, saves)
                saved, self._next = self._next or self._wait(saves), ()

    def _cycle(self, saved: tuple[Path, ...], saves: Saves | None) -> Cycle:
        cycle = Cycle(len(self.history.cycles), time.time(), saved)
        self.history.cycles.append(cycle)
        self.observer.cycle(cycle)
        for step in self.request.steps():
            cycle.cancelled = step.name  # By whatever keeps it from its end.
            answer = self._run(step, saves)
            if answer is None:
                break
            cycle.cancelled = ""
            outcome = outcome_of(answer, self.history.board, cycle.number, cycle.at)
            cycle.outcomes.append(outcome)
            self.observer.outcome(outcome)
            if outcome.problem:
                break
        self.observer.ended(cycle, self.history)
        return cycle

    def _run(self, step: Step, saves: Saves | None) -> Answer | None:
        """Run a step; None if a save came first, as its answer would be about an older file."""
        self._begun += 1
        mine = _Ended(self._begun)
        self.steps.start(step, lambda: self._inbox.put(mine))
        self.observer.step(step.name)
        if step.name != "bench":  # Its times would tell.
            self.steps.prepare()
        while True:
            event = self._take(saves)
            if event == mine:
                return self.steps.answer()
            if isinstance(event, Path) and saves is not None:
                self._next = self._edited(event, saves)
                if self._next:
                    self.steps.stop()
                    return None

    def _wait(self, saves: Saves) -> tuple[Path, ...]:
        """Wait for a save. A save without a change counts, too: the user wants to time again."""
        self.steps.prepare()
        while True:
            event = self._take(saves)
            if isinstance(event, Path):
                changed = self._edited(event, saves)
                again = (event,) if event in self._contents else ()
                if changed or again:
                    return changed or again

    def _take(self, saves: Saves | None) -> Path | _Ended:
        while True:
            try:
                return self._inbox.get(timeout=_LOOK_SECONDS)
            except Empty:
                for place in saves.rearm() if saves else ():
                    return place

    def _edited(self, first: Path, saves: Saves) -> tuple[Path, ...]:
        """Files that changed, once the burst of saves is over."""
        self._let_pass(first)
        before, self._contents = self._contents, self.made_of.contents()
        every = sorted(before.keys() | self._contents.keys())
        changed = tuple(path for path in every if before.get(path) != self._contents.get(path))
        if changed:
            saves.rearm(self.made_of.places())
        return changed

    def _let_pass(self, first: Path) -> None:
        end, others = time.monotonic() + _BURST_SECONDS, list[_Ended]()
        while (left := min(_QUIET_SECONDS, end - time.monotonic())) > 0:
            try:
                event = self._inbox.get(timeout=left)
            except Empty:
                break
            if isinstance(event, _Ended):
                others.append(event)
        for event in others:
            self._inbox.put(event)
