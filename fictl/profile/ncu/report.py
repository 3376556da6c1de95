"""NcuReport: the result of `fictl profile --tool ncu` for one case, and its files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fictl.profile.ncu.digest.kernel import Digest


@dataclass(frozen=True)
class NcuReport:
    """Result of ncu. path: ncu's own file; pages: the CSV behind the digests; notes: warnings for
    the user.
    """

    op: str
    case: str
    version: str
    collected: str
    path: Path
    pages: tuple[Path, ...]
    digests: tuple[Digest, ...]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {
            "op": self.op,
            "case": self.case,
            "tool": f"ncu {self.version}",
            "collected": self.collected,
            "report": str(self.path),
            "pages": [str(page) for page in self.pages],
            "kernels": [digest.to_dict() for digest in self.digests],
            "notes": list(self.notes),
        }
