"""NsysSummary: the result of `fictl profile --tool nsys` for one case, and its files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fictl.profile.nsys.table import Row


@dataclass(frozen=True)
class NsysSummary:
    """Result of nsys. tables: by the name of the report of `nsys stats`; pages: their CSV."""

    op: str
    case: str
    calls: int
    version: str
    path: Path
    pages: tuple[Path, ...]
    tables: Mapping[str, tuple[Row, ...]]

    def to_dict(self) -> dict[str, Any]:
        return {
            "op": self.op,
            "case": self.case,
            "calls": self.calls,
            "tool": f"nsys {self.version}",
            "report": str(self.path),
            "pages": [str(page) for page in self.pages],
            "tables": {name: [row.to_dict() for row in rows] for name, rows in self.tables.items()},
        }
