"""Times of a watch in words: how a case stands, and what a run came to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fictl.timing.verdict import Verdict

if TYPE_CHECKING:
    from fictl.watch.board import Standing
    from fictl.watch.history import Cycle


_NAMED = 3


def edited(paths: Sequence[Path]) -> str:
    """`twice.cuh saved`, or gone; '' of none."""
    gone = [path for path in paths if not os.path.exists(path)]
    kept = [path for path in paths if path not in gone]
    verbs = ((kept, "saved"), (gone, "gone"))
    return " · ".join(f"{_names(some)} {what}" for some, what in verbs if some)


def _names(paths: Sequence[Path]) -> str:
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return ", ".join(path.name for path in paths[:_NAMED]) + more


def microseconds(seconds: float) -> str:
    value = seconds * 1e6
    return (
        f"{value:.2f} us" if value < 10 else f"{value:.1f} us" if value < 1e4 else f"{value:.0f} us"
    )


def against(standing: Standing) -> str:
    """`-1.2 % against the last save, best 64.1 us (14:02)`; noise is not a difference."""
    before, comparison = standing.before, standing.against
    if before is None or comparison is None:
        return "timed for the first time"
    last = standing.now.cycle - before.cycle == 1
    when = "the last save" if last else f"the save of {before.clock}"
    change = f"{(comparison.ratio - 1) * 100:+.1f} %"
    words = {
        Verdict.SAME: f"tie with {when}",
        Verdict.UNCLEAR: f"{change} against {when}, which may be noise",
    }.get(comparison.verdict, f"{change} against {when}")
    if standing.is_faster_than_ever:
        return f"{words}, the best so far"
    return f"{words}, best {microseconds(standing.best.median)} ({standing.best.clock})"


def token(cycle: Cycle) -> str:
    """One item of the history line: the time of the first case, else the outcome."""
    if cycle.failed:
        return f"{cycle.failed.step} ✗"
    if cycle.cancelled:
        return "·"
    times = [standing.now.median for outcome in cycle.outcomes for standing in outcome.standings]
    return microseconds(times[0]) if times else "✓"
