"""Reports that a project has reviewed and accepts, by op and place, each with its reason."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from fictl.errors import UsageError
from fictl.toml_text import parse_toml
from fictl.user_file import read_text

FILE = "sanitize.toml"
_KEYS = {"op", "kind", "site", "why"}
_EXAMPLE = """as in
[[suppress]]
op = "attention/prefill"      # an op's folder, its name or a pattern
kind = "uninitialised"        # of any kind if left out
site = "prefill.cuh:120"      # the file's name, with or without a line
why = "rows beyond the last query are read and never used\""""


@dataclass(frozen=True)
class Suppression:
    """Accepts reports about `op` of `kind` at `site`; all three are patterns."""

    op: str
    why: str
    kind: str = "*"
    site: str = "*"

    def covers(self, finding: Mapping[str, Any]) -> bool:
        """True if it accepts this report; one accepted side of a conflict is enough."""
        folder = finding["folder"]
        ops = (finding["op"], folder, folder.partition("/")[2], folder.rpartition("/")[2])
        kinds = fnmatch(finding["kind"], self.kind)
        return kinds and any(fnmatch(op, self.op) for op in ops) and self._at_site(finding)

    def _at_site(self, finding: Mapping[str, Any]) -> bool:
        sides = (finding, finding.get("other") or {})
        return self.site == "*" or any(_names(self.site, side) for side in sides)


def read_suppressions(path: Path) -> tuple[Suppression, ...]:
    """Read the suppressions of a file; none where there is no file."""
    if not os.path.isfile(path):
        return ()
    try:
        data = parse_toml(read_text(path))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}", _EXAMPLE) from None
    return tuple(_suppression(path, entry) for entry in _entries(path, data))


def _entries(path: Path, data: Mapping[str, Any]) -> Sequence[Any]:
    entries = data.get("suppress", [])
    if set(data) - {"suppress"} or not isinstance(entries, list):
        strange = ", ".join(sorted(set(data) - {"suppress"})) or "suppress"
        raise UsageError(f"{path}: {strange} is not a list of [[suppress]]", _EXAMPLE)
    return entries


def _suppression(path: Path, entry: Any) -> Suppression:
    words = isinstance(entry, dict) and all(isinstance(value, str) for value in entry.values())
    if not words or set(entry) - _KEYS or not {"op", "why"} <= {k for k in entry if entry[k]}:
        raise UsageError(
            f"{path}: {entry} is not a suppression: it has op and why, and may have kind and site",
            _EXAMPLE,
        )
    return Suppression(**entry)


def _names(site: str, side: Mapping[str, Any]) -> bool:
    file, line = side.get("file", ""), side.get("line", 0)
    spellings = (file, Path(file).name)
    return any(fnmatch(name, site) or fnmatch(f"{name}:{line}", site) for name in spellings)
