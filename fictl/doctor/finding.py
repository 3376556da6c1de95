"""Finding of a check: its level, its evidence, and how to fix a problem."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

Level = Literal["ok", "warning", "error"]


@dataclass(frozen=True)
class DoctorFinding:
    """Result of one check.

    text: one line that sums it up; further lines are evidence.
    probe: a step that was tried failed, which shows that something is broken, but not what.
    """

    name: str
    level: Level
    text: str
    fix: str = ""
    probe: bool = False

    def to_dict(self) -> dict[str, str]:
        return {"name": self.name, "level": self.level, "found": self.text, "fix": self.fix}


Say: TypeAlias = Callable[[str, str, str], DoctorFinding]


def ok(name: str, text: str, *evidence: str) -> DoctorFinding:
    return DoctorFinding(name, "ok", "\n".join((text, *evidence)))


def warning(name: str, text: str, fix: str) -> DoctorFinding:
    return DoctorFinding(name, "warning", text, fix)


def error(name: str, text: str, fix: str) -> DoctorFinding:
    return DoctorFinding(name, "error", text, fix)


def exit_code(findings: Iterable[DoctorFinding]) -> int:
    """3 if an error explains what the environment lacks; 1 if only a probe failed; else 0."""
    errors = [finding for finding in findings if finding.level == "error"]
    if any(not finding.probe for finding in errors):
        return 3
    return 1 if errors else 0


def tally(findings: Iterable[DoctorFinding]) -> str:
    """Summary, as in '17 checks, 1 problem, 2 warnings'."""
    levels = [finding.level for finding in findings]
    counts = {"problem": levels.count("error"), "warning": levels.count("warning")}
    words = [f"{n} {word}{'s' * (n != 1)}" for word, n in counts.items() if n]
    return ", ".join([f"{len(levels)} check{'s' * (len(levels) != 1)}", *(words or ["no problem"])])
