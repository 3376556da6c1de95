"""Finding the file that line information speaks of: the build may be that of another checkout."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any

from fictl.paths import files_below
from fictl.project import Project

_SUFFIXES = (".cuh", ".cu", ".h", ".hpp", ".cpp", ".inc", ".py")


class ReportSources:
    """The files of a project and of those that it includes."""

    def __init__(self, project: Project) -> None:
        self._folders = project.include_dirs

    def find(self, said: str) -> str:
        """Its path in the project; `said` itself where nothing, or more than one file, is meant."""
        path = Path(said)
        if not said or any(path.is_relative_to(folder) for folder in self._folders):
            return said
        alike = [(_tail(path, each), each) for each in self._by_name[path.name]]
        most = max((tail for tail, _ in alike), default=0)
        best = [each for tail, each in alike if tail == most]
        return str(best[0]) if len(best) == 1 and _may_be(path, best[0]) else said

    def locate(self, row: dict[str, Any]) -> None:
        """Name the project's own files in a report, and in what it says."""
        sides = [row, *filter(None, [row.get("other")])]
        callers = [each.rpartition(":")[0] for side in sides for each in side.get("callers", ())]
        said = {*callers, *(side["file"] for side in sides)} - {""}
        if not said:
            return
        # The longest first: a name alone may be the end of a longer path.
        names = re.compile("|".join(map(re.escape, sorted(said, key=len, reverse=True))))

        def moved(text: str) -> str:
            return names.sub(lambda name: self.find(name[0]), text)

        for side in sides:
            side["file"] = moved(side["file"])
            side["callers"] = [moved(each) for each in side.get("callers", ())]
        row["text"] = moved(row["text"])

    @cached_property
    def _by_name(self) -> dict[str, list[Path]]:
        found: dict[str, dict[Path, None]] = defaultdict(dict)
        for folder in self._folders:
            for path in files_below(folder):
                if path.suffix in _SUFFIXES:
                    found[path.name][path] = None
        return defaultdict(list, {name: list(paths) for name, paths in found.items()})


def _may_be(said: Path, own: Path) -> bool:
    """Another copy of the same bytes; one that is there and differs is another file."""
    return (
        not (said.is_absolute() and os.path.isfile(said)) or said.read_bytes() == own.read_bytes()
    )


def _tail(one: Path, other: Path) -> int:
    """How many of their last parts are the same."""
    pairs = zip(reversed(one.parts), reversed(other.parts), strict=False)
    return len([*takewhile(lambda pair: pair[0] == pair[1], pairs)])
