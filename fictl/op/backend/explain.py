"""Explanation: the backend that a call gets, and why not the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fictl.errors import InvalidValue


@dataclass(frozen=True)
class Verdict:
    """Verdict on one backend: accepted if `reason` is empty."""

    backend: str
    reason: str = ""

    @property
    def accepted(self) -> bool:
        return not self.reason


@dataclass(frozen=True)
class Explanation:
    """Explanation of one call. `suitable` is sorted by preference; `refusal` is about all."""

    op: str
    device: str = ""
    asked: str = ""
    why: str = ""
    suitable: tuple[str, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    refusal: str = ""
    hint: str = ""

    @property
    def runs(self) -> bool:
        return bool(self.suitable)

    @property
    def backend(self) -> str:
        """Name of the backend that would run; '' if none would, or if the op has no backends."""
        return self.suitable[0] if self.suitable else ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "op": self.op,
            "device": self.device,
            "runs": self.runs,
            "backend": self.backend,
            "why": self.why,
            "refusal": self.refusal,
            "suitable": list(self.suitable),
            "backends": [
                {"backend": verdict.backend, "accepted": verdict.accepted, "reason": verdict.reason}
                for verdict in self.verdicts
            ],
        }

    def __str__(self) -> str:
        where = f" on {self.device}" if self.device else ""
        return "\n".join([self._headline(where), *_rows(self.verdicts)])

    def _headline(self, where: str) -> str:
        if self.refusal:
            return f"{self.op} does not run{where}: {self.refusal}"
        if not self.runs:
            if self.asked == "auto":
                return f"{self.op}: no backend runs this call{where}"
            return f"{self.op}: backend {self.asked!r} does not run this call{where}"
        if not self.backend:
            return f"{self.op} runs{where}"
        return f"{self.op} runs {self.backend}{where}: {self.why}"


class BackendRefused(InvalidValue):
    """No backend, or not the requested one, runs this call: the message has every reason."""

    code = "backend"

    def __init__(self, explanation: Explanation) -> None:
        super().__init__(_message(explanation), explanation.hint)
        self.explanation = explanation


def _message(explanation: Explanation) -> str:
    if explanation.refusal:
        return f"{explanation.op}: {explanation.refusal}"
    if explanation.asked == "auto":
        return str(explanation)
    (refused,) = explanation.verdicts
    return f"{explanation.op}: backend {refused.backend!r} ({explanation.why}): {refused.reason}"


def _rows(verdicts: tuple[Verdict, ...]) -> list[str]:
    width = max((len(verdict.backend) for verdict in verdicts), default=0)
    return [
        f"  {'✓' if verdict.accepted else '✗'} {verdict.backend:<{width}}  {verdict.reason}".rstrip()
        for verdict in verdicts
    ]
