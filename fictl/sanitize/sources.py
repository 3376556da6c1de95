"""Finds the files that line information names: the build may be from another checkout."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any

from fictl.emu.report import Place
from fictl.paths import files_below
from fictl.project import Project

_SUFFIXES = (".cuh", ".cu", ".h", ".hpp", ".cpp", ".inc", ".py")


class ReportSources:
    """Source files of a project and of the projects that it includes."""

    def __init__(self, project: Project) -> None:
        self._folders = project.include_dirs
        self._own = project.kernels

    def find(self, name: str) -> str:
        """Path of the file in the project; `name` itself where no file, or more than one, fits."""
        path = Path(name)
        if not name or any(path.is_relative_to(folder) for folder in self._folders):
            return name
        alike = [(_tail(path, own), own) for own in self._by_name[path.name]]
        most = max((tail for tail, _ in alike), default=0)
        best = [own for tail, own in alike if tail == most]
        return str(best[0]) if len(best) == 1 and _may_be(path, best[0]) else name

    def locate(self, row: dict[str, Any]) -> None:
        """Replace file names in a report and in its text by the project's own files; the place of
        each side becomes its innermost line in the project, if it has one.
        """
        sides = [row, *filter(None, [row.get("other")])]
        frames = [line.rpartition(":")[0] for side in sides for line in _others(side)]
        files = {*frames, *(side["file"] for side in sides)} - {""}
        if not files:
            return
        # The longest first: a name alone may be the end of a longer path.
        names = re.compile("|".join(map(re.escape, sorted(files, key=len, reverse=True))))

        def moved(text: str) -> str:
            return names.sub(lambda name: self.find(name[0]), text)

        row["text"] = moved(row["text"])
        for side in sides:
            side["file"] = moved(side["file"])
            for name in ("callers", "inside"):
                side[name] = [moved(line) for line in side.get(name, ())]
            before, now = _place(side), self._chosen(_place(side))
            begin = "\n  " if side is row else f"{side.get('what', '')} "
            row["text"] = _replaced(row["text"], begin, before, now)
            side |= {"file": now.file, "line": now.line}
            side |= {"callers": [*now.callers], "inside": [*now.inside]}

    def _chosen(self, place: Place) -> Place:
        """Choose the innermost line in the project itself; a library's line is within it."""
        if not place.line:
            return place
        texts = [*place.inside, f"{place.file}:{place.line}", *place.callers]
        frames = [(file, int(line)) for file, _, line in (text.rpartition(":") for text in texts)]
        chosen = Place.among(frames, own=self._is_own)
        return chosen if self._is_own(chosen.file) else place

    def _is_own(self, file: str) -> bool:
        return Path(file).is_relative_to(self._own)

    @cached_property
    def _by_name(self) -> dict[str, list[Path]]:
        by_name: dict[str, dict[Path, None]] = defaultdict(dict)
        for folder in self._folders:
            for path in files_below(folder):
                if path.suffix in _SUFFIXES:
                    by_name[path.name][path] = None
        return defaultdict(list, {name: list(paths) for name, paths in by_name.items()})


def _others(side: Mapping[str, Any]) -> Iterator[str]:
    yield from side.get("callers", ())
    yield from side.get("inside", ())


def _place(side: Mapping[str, Any]) -> Place:
    return Place(side["file"], side["line"], tuple(side["callers"]), tuple(side["inside"]))


def _replaced(text: str, begin: str, before: Place, now: Place) -> str:
    """Replace a place in the text of a report; `begin` stands before it. Frames have own lines."""
    if now == before:
        return text
    old, new = ([str(line) for line in place.lines()] for place in (before, now))
    if begin.isspace():
        return text.replace(begin + "\n  ".join(old), begin + "\n  ".join(new), 1)
    return re.sub(re.escape(begin + old[0]) + r"(?!\d)", lambda _: begin + new[0], text, count=1)


def _may_be(named: Path, own: Path) -> bool:
    """True if the files can be copies of one: the named one is not here, or has the same bytes."""
    if not (named.is_absolute() and os.path.isfile(named)):
        return True
    return named.read_bytes() == own.read_bytes()


def _tail(one: Path, other: Path) -> int:
    """Number of last parts that two paths have in common."""
    pairs = zip(reversed(one.parts), reversed(other.parts), strict=False)
    return len([*takewhile(lambda pair: pair[0] == pair[1], pairs)])
