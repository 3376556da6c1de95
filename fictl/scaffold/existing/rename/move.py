"""Move: a plan whose files go elsewhere, shown as what changes in them on the way."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fictl.scaffold.plan.plan import FileChange, Plan


@dataclass(frozen=True)
class Move(Plan):
    """`origins`: where a file is to be -> where it is."""

    origins: Mapping[Path, Path] = field(default_factory=dict)

    def diff(self) -> str:
        """Diff with renames, as `git diff -M` shows them and `git apply` takes them."""
        before = {change.path: change.before or "" for change in self.changes()}
        left = {*self.origins.values()}
        parts = (
            self._renamed(change, before[self.origins[change.path]])
            if change.path in self.origins
            else self._patch(change)
            for change in self.changes()
            if change.path not in left
        )
        return "".join(line for part in parts for line in part)

    def _renamed(self, change: FileChange, before: str) -> Iterator[str]:
        old, new = self.shown(self.origins[change.path]), self.shown(change.path)
        yield f"diff --git a/{old} b/{new}\nrename from {old}\nrename to {new}\n"
        lines = difflib.unified_diff(
            before.splitlines(keepends=True),
            (change.after or "").splitlines(keepends=True),
            f"a/{old}",
            f"b/{new}",
        )
        for line in lines:
            yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
