"""Texts of a comparison that a terminal, Markdown and JUnit share."""

from __future__ import annotations

from collections.abc import Iterator

from fictl.bench.compare.gate import MISSING, NEVER, NEW, SLOWER
from fictl.bench.compare.outcome import Compared, CompareOutcome
from fictl.quantity import counted


def cells(compared: Compared) -> tuple[str, str, str, str, str]:
    """Spell a case: its name, both times, their ratio and its interval."""
    comparison = compared.comparison
    return (
        compared.case,
        f"{compared.a * 1e6:.2f} us",
        f"{compared.b * 1e6:.2f} us",
        f"{comparison.ratio:.3f}x",
        f"{comparison.low:.3f} .. {comparison.high:.3f}",
    )


def energy(compared: Compared) -> str:
    """`31.2 → 28.0 mJ (0.90x)`"""
    if compared.joules is None:
        return ""
    a, b = compared.joules
    return f"{a * 1e3:.3g} → {b * 1e3:.3g} mJ ({b / a:.2f}x)"


def mark(outcome: CompareOutcome) -> str:
    """`✗` where it fails, `✓` where all is decided and well, else `?`; `!` if nothing was compared."""
    if outcome.failed:
        return "✗"
    if not outcome.cases:
        return "!"
    return "?" if outcome.unsettled else "✓"


def summary(outcome: CompareOutcome) -> str:
    """Say what was found, and why the exit code is what it is."""
    others = {word: outcome.doubts[word] for word in (MISSING, NEW) if word in outcome.doubts}
    wrong = {"wrong": outcome.wrong} if outcome.wrong else {}
    counts = {**outcome.counts, **wrong, **others}
    spelled = " · ".join(f"{count} {word}" for word, count in counts.items())
    head = f"{counted(len(outcome.cases), 'case')}: {spelled or 'nothing in common'}"
    return " · ".join(filter(None, (head, _reason(outcome))))


def _reason(outcome: CompareOutcome) -> str:
    if outcome.failed:
        return f"fails on {', '.join(outcome.failed)}" if [*outcome.failed] != [SLOWER] else ""
    if outcome.unsettled and outcome.cases:
        return f"exit code 0 by --fail-on {','.join(outcome.fail_on) or NEVER}"
    return ""


def absent(outcome: CompareOutcome) -> Iterator[tuple[str, str]]:
    """Yield the cases that were not compared, each with the reason."""
    for names, label in ((outcome.only_a, outcome.a), (outcome.only_b, outcome.b)):
        yield from ((name, f"only {label} has it") for name in names)
    yield from ((one.case, f"{one.who}: {one.why}") for one in outcome.untimed)
