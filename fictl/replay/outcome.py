"""Outcome: the result of replaying one dump."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fictl.replay.recording.messages import CallOutcome
from fictl.report.finding import DefectFinding

DEFECT = "defect"
_EXIT_CODES = {"match": 0, "no reference": 0, "mismatch": 1, "error": 1, "refused": 2, DEFECT: 1}


@dataclass(frozen=True)
class ReplayOutcome:
    """Outcome of a dump. detail: a difference, an error, or the reason why nothing was compared.

    under: the tool that observed the call. findings: of the sanitizer; profile, time: of CUPTI or
    the timer. code: exit code if this machine is at fault. calls: those of a recording that did
    not match.
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
    calls: tuple[CallOutcome, ...] = ()

    @property
    def exit_code(self) -> int:
        return self.code or _EXIT_CODES[self.status]

    @property
    def defects(self) -> tuple[DefectFinding, ...]:
        return tuple(finding for finding in self.findings if not finding.suppressed)

    def to_dict(self) -> dict[str, Any]:
        """JSON for users; fields of a tool are present only if it observed the call."""
        looked = {
            "found": [finding.to_dict() for finding in self.findings],
            "profile": {name: self.profile[name] for name in self.profile if name != "text"},
            "time": self.time,
            "calls": [vars(call) for call in self.calls],
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
    """The worst exit code: a failed call outranks a refused dump."""
    codes = {outcome.exit_code for outcome in outcomes}
    return 1 if 1 in codes else max(codes, default=0)
