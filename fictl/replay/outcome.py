"""Outcome: what came of one dump."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fictl.report.finding import DefectFinding

DEFECT = "defect"
_EXIT_CODES = {"match": 0, "no reference": 0, "mismatch": 1, "error": 1, "refused": 2, DEFECT: 1}


@dataclass(frozen=True)
class ReplayOutcome:
    """`detail` says what differs, what went wrong, or why there was nothing to compare.

    under: what looked at the call. findings: what the sanitizer saw; profile, time: what CUPTI or
    the timer did. code: of an error of this machine.
    """

    dump: str
    op: str
    status: str
    detail: str = ""
    hint: str = ""
    device: str = ""
    seconds: float = 0.0
    under: str = ""
    findings: tuple[DefectFinding, ...] = ()
    profile: Mapping[str, Any] = field(default_factory=dict)
    time: Mapping[str, Any] = field(default_factory=dict)
    code: int = 0

    @property
    def exit_code(self) -> int:
        return self.code or _EXIT_CODES[self.status]

    @property
    def defects(self) -> tuple[DefectFinding, ...]:
        return tuple(finding for finding in self.findings if not finding.suppressed)

    def to_dict(self) -> dict[str, Any]:
        """JSON for users; what a tool gives is there only where one looked."""
        looked = {
            "found": [finding.to_dict() for finding in self.findings],
            "profile": {name: self.profile[name] for name in self.profile if name != "text"},
            "time": self.time,
        }
        return {
            "dump": self.dump,
            "op": self.op,
            "status": self.status,
            "detail": self.detail,
            "hint": self.hint,
            "device": self.device,
            "seconds": self.seconds,
            "under": self.under,
            **{name: value for name, value in looked.items() if value},
        }


def worst(outcomes: list[ReplayOutcome]) -> int:
    """A call that went wrong counts more than a dump that was refused."""
    codes = {outcome.exit_code for outcome in outcomes}
    return 1 if 1 in codes else max(codes, default=0)
