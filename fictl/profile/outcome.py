"""What became of one case that was to be profiled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fictl.errors import FictlError


@dataclass(frozen=True)
class ProfileOutcome:
    """What a tool found, with a `to_dict` whatever the tool, or why it found nothing."""

    op: str
    case: str
    result: Any = None
    error: FictlError | None = None

    def to_dict(self) -> dict[str, Any]:
        error = {"message": self.error.message, "hint": self.error.hint} if self.error else None
        result = self.result.to_dict() if self.result is not None else None
        return {"op": self.op, "case": self.case, "result": result, "error": error}
