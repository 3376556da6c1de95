"""Dump: the folder that stores one call, and the op that was called."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from fictl.errors import UsageError
from fictl.op.watch.dump.record import METADATA, Record, Refused
from fictl.op.watch.dump.tensors import file_of
from fictl.paths import matching, real
from fictl.project import OpFolder, Project
from fictl.project.discover import find_function, functions
from fictl.replay.recording.document import is_recording

_API = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\.ops\.([A-Za-z_]\w*)")
_CALL = re.compile(r"(\d{8}_\d{6})_pid(\d+)_.*_call(\d+)(?:_(\d+))?")


@dataclass(frozen=True)
class Dump:
    """A folder with valid metadata and all its files; the tensors are not read yet."""

    path: Path
    record: Record

    @classmethod
    def open(cls, path: Path) -> Dump:
        if not real(path / METADATA).is_relative_to(real(path)):
            raise Refused(f"{path / METADATA} is a link that leaves its folder")
        record = Record.read(path)
        for described in filter(None, (record.inputs, record.outputs)):
            file_of(path, described)
        return cls(path, record)

    @property
    def name(self) -> str:
        """Name of the public function."""
        return self._parsed()[1]

    def folder(self) -> OpFolder:
        """Folder of the op in one of the projects found here: no other code is ever imported."""
        package, name = self._parsed()
        projects = [project for project in Project.all() if _imported_as(project) == package]
        if not projects:
            raise Refused(
                f"{self.record.op}: there is no project {package!r} here",
                "run it in the project's folder, or install the project",
            )
        folder = find_function(name, projects[0])
        if folder is None:
            raise Refused(f"there is no op {self.record.op!r}", _suggestion(name, projects[0]))
        return folder

    def _parsed(self) -> tuple[str, str]:
        match = _API.fullmatch(self.record.op)
        if match is None:
            raise Refused(
                f"{self.record.op!r:.200} is not the name of an op, as in 'my_kernels.ops.fn'"
            )
        return match[1], match[2]


def find_dumps(paths: Iterable[Path]) -> list[Path]:
    """Collect the dumps: a path is a recording, a dump or a folder of dumps, sorted by their calls."""
    return [dump for path in paths for dump in _dumps_at(path)]


def _dumps_at(path: Path) -> Iterator[Path]:
    if os.path.exists(path / METADATA) or (is_recording(path) and os.path.isfile(path)):
        yield path
        return
    if not os.path.isdir(path):
        raise UsageError(f"{path} is not a folder", "name a dump, or a folder of dumps")
    inside = sorted((file.parent for file in matching(path, f"*/{METADATA}")), key=_order)
    if not inside:
        raise UsageError(
            f"{path} is not a dump, and has none in it",
            f"a dump is a folder with {METADATA}; FICTL_LOGLEVEL=10 writes them",
        )
    yield from inside


def _order(path: Path) -> tuple[str, int, int, str]:
    match = _CALL.fullmatch(path.name)
    return (match[1], int(match[2]), int(match[3]), path.name) if match else ("", 0, 0, path.name)


def _imported_as(project: Project) -> str:
    """Name in front of `.ops` by which users import the project."""
    return project.name if project.is_shipped else project.package


def _suggestion(name: str, project: Project) -> str:
    known = [declaration.name for _, declaration in functions(project)]
    close = get_close_matches(name, known, n=1, cutoff=0.5)
    return f"did you mean {close[0]!r}?" if close else "fictl list shows them all"
