"""What a check says: one verdict, what it rests on, and what mends it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warning", "error"]


@dataclass(frozen=True)
class DoctorFinding:
    """`found` opens with one line that says it all; further lines are evidence.

    `probe` marks what was tried and failed: it says that something is broken, not what.
    """

    name: str
    level: Level
    found: str
    fix: str = ""
    probe: bool = False

    def to_dict(self) -> dict[str, str]:
        return {"name": self.name, "level": self.level, "found": self.found, "fix": self.fix}


def ok(name: str, found: str, *evidence: str) -> DoctorFinding:
    return DoctorFinding(name, "ok", "\n".join((found, *evidence)))


def warning(name: str, found: str, fix: str) -> DoctorFinding:
    return DoctorFinding(name, "warning", found, fix)


def error(name: str, found: str, fix: str) -> DoctorFinding:
    return DoctorFinding(name, "error", found, fix)


def exit_code(findings: Iterable[DoctorFinding]) -> int:
    """3 for an environment that cannot do it, which also explains why a probe fails; else 1."""
    errors = [finding for finding in findings if finding.level == "error"]
    if any(not finding.probe for finding in errors):
        return 3
    return 1 if errors else 0


def tally(findings: Iterable[DoctorFinding]) -> str:
    """'17 checks, 1 problem, 2 warnings'."""
    levels = [finding.level for finding in findings]
    counts = {"problem": levels.count("error"), "warning": levels.count("warning")}
    words = [f"{n} {word}{'s' * (n != 1)}" for word, n in counts.items() if n]
    return ", ".join([f"{len(levels)} check{'s' * (len(levels) != 1)}", *(words or ["no problem"])])
