"""ProfileOutcome: the result of profiling one case, or its error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fictl.errors import FictlError


@dataclass(frozen=True)
class ProfileOutcome:
    """A tool's result, which has a `to_dict` for every tool, or the error."""

    op: str
    case: str
    result: Any = None
    error: FictlError | None = None

    def to_dict(self) -> dict[str, Any]:
        error = self.error.to_dict() if self.error else None
        result = self.result.to_dict() if self.result is not None else None
        return {"op": self.op, "case": self.case, "result": result, "error": error}
