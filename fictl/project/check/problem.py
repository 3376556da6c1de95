"""Problem: what `fictl check` reports."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Problem:
    """A violation of a rule at a line of a file, and the edit that fixes it."""

    rule: str
    path: Path
    line: int
    message: str
    fix: str

    def to_dict(self) -> dict[str, Any]:
        return {**self.__dict__, "path": str(self.path)}
