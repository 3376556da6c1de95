"""An op beside what the scaffold writes for it now: what would become of it, or why nothing can."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fictl.errors import FictlError
from fictl.project import OpFolder
from fictl.scaffold.existing.upgrade.file_upgrade import FileUpgrade
from fictl.scaffold.plan.plan import Plan
from fictl.scaffold.record import ScaffoldRecord


@dataclass(frozen=True)
class OpUpgrade:
    """`version` wrote the op. `files` are those that the scaffold writes differently now; `record`
    is the one that it has afterwards, None if it stays.
    """

    folder: OpFolder
    version: str = ""
    files: tuple[FileUpgrade, ...] = ()
    record: ScaffoldRecord | None = None
    error: FictlError | None = None

    @property
    def is_behind(self) -> bool:
        return self.record is not None

    @property
    def conflicts(self) -> int:
        return sum(len(file.conflicts) for file in self.files)

    @property
    def status(self) -> str:
        if self.error:
            return "refused"
        if self.is_behind:
            return "conflict" if self.conflicts else "behind"
        return "current" if self.version else "no record"

    def to_dict(self, plan: Plan) -> dict[str, Any]:
        return {
            "op": str(self),
            "status": self.status,
            "version": self.version,
            "files": [file.to_dict(plan.shown(file.path)) for file in self.files],
            "error": self.error.message if self.error else None,
        }

    def __str__(self) -> str:
        return str(self.folder)
