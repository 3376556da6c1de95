"""The screen of a watch: a few lines per save and, on a terminal, the current step."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from fictl.cli import console
from fictl.cli._watch.words import against, edited, microseconds, token
from fictl.paths import friendly
from fictl.watch.observer import WatchObserver

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.watch.board import Standing
    from fictl.watch.history import Cycle, History
    from fictl.watch.outcome import StepOutcome
    from fictl.watch.problem import Problem

_DOING = {"build": "building", "test": "testing", "bench": "timing"}
_NUMBERS = re.compile(r"[\d., ]+")
# So many runs fit in a line.
_SHOWN = 10


class Screen(WatchObserver):
    """`to_stderr` where stdout is for a document; the `remark` is said once."""

    def __init__(self, ops: Sequence[str], remark: str = "", to_stderr: bool = False) -> None:
        self._out = console.console(stderr=to_stderr)
        self._ops, self._remark = ops, remark
        self._here = f"{Path.cwd()}{os.sep}"  # Now: it may be gone when it is needed.
        self._status: Any = None
        self._said: set[str] = set()

    def __enter__(self) -> Screen:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._rest()

    def watching(self, files: Sequence[Path], polling: str) -> None:
        self._line(f"watching {' '.join(self._ops)}: {len(files)} files · Ctrl-C ends")
        if polling:
            self._line(f"  ! looking once a second: {polling}")

    def cycle(self, cycle: Cycle) -> None:
        if self._remark:
            self._once(f"  {self._remark}")
        clock = time.strftime("%H:%M:%S", time.localtime(cycle.at))
        what = edited(cycle.saved) or "as it is"
        self._out.print(f"[dim]{clock}[/]  [bold]{_plain(what)}[/]", soft_wrap=True)

    def step(self, name: str) -> None:
        if self._out.is_terminal:
            self._rest()
            self._status = self._out.status(f"{_DOING[name]} …")
            self._status.start()

    def outcome(self, outcome: StepOutcome) -> None:
        self._rest()
        mark = {0: "[green]✓[/]", 1: "[red]✗[/]", 3: "[yellow]![/]"}[outcome.exit_code]
        text = _plain(outcome.text or "failed")
        line = f"  {mark} {outcome.step:5}  {text:24}  [dim]{outcome.seconds:.1f} s[/]"
        self._out.print(line, soft_wrap=True)
        if outcome.problem:
            self._problem(outcome.problem)
        self._standings(outcome.standings)
        for warning in outcome.warnings:
            self._once(f"    ! {warning}")

    def ended(self, cycle: Cycle, history: History) -> None:
        self._rest()
        if cycle.cancelled:
            self._line(f"  · {cycle.cancelled:5}  ended: a file was saved")
        elif len(history.cycles) > 1:
            shown = [token(cycle) for cycle in history.cycles[-_SHOWN:]]
            dots = "… " if len(history.cycles) > _SHOWN else ""
            self._line(f"  history  {dots}{' → '.join(shown)}")

    def _problem(self, problem: Problem) -> None:
        self._line(f"    {problem.message.replace(self._here, '')}")
        if problem.source:
            self._line(f"    {problem.line:5} | {problem.source.strip()}")
        for line in problem.hint.splitlines():
            self._line(f"    {' '.join(map(friendly, line.split()))}")

    def _standings(self, standings: Sequence[Standing]) -> None:
        width = max((len(standing.label) for standing in standings), default=0)
        for standing in standings:
            took = microseconds(standing.now.median)
            self._line(f"    {standing.label:{width}}  {took:>9}  {against(standing)}")

    def _once(self, text: str) -> None:
        """Whatever numbers are in it, as those of processes."""
        words = _NUMBERS.sub("", text)
        if words not in self._said:
            self._said.add(words)
            self._line(text)

    def _line(self, text: str) -> None:
        self._out.print(text, markup=False, soft_wrap=True)

    def _rest(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None


def view_summary(out: Console, history: History) -> None:
    counts = (
        f"{history.saves} save{'' if history.saves == 1 else 's'}",
        f"{history.builds} build{'' if history.builds == 1 else 's'}",
        f"{history.failures} failed",
    )
    if out.is_terminal:
        out.print()  # Behind its ^C.
    out.print(" · ".join(counts), markup=False, soft_wrap=True)
    for case, timing in history.board.best().items():
        text = f"  best of {case}: {microseconds(timing.median)} ({timing.clock})"
        out.print(text, markup=False, soft_wrap=True)


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)
