"""Names of source files that are the same in any checkout, and their paths here."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from fictl.inspect.instruction import SourcePlace
from fictl.jit.module_spec import ModuleSpec
from fictl.jit.sources import locate, portable_name
from fictl.paths import friendly
from fictl.user_file import read_text


@dataclass(frozen=True)
class Roots:
    """Folders of a unit's files at compile time: its op, its headers, and the rendered sources."""

    base: str
    include_dirs: tuple[str, ...]
    rendered: str

    @classmethod
    def of(cls, spec: ModuleSpec, folder: Path) -> Roots:
        dirs = tuple(str(path.absolute()) for path in spec.include_dirs)
        return cls(str(spec.base.absolute()), dirs, str(folder))

    def portable(self, path: str) -> str:
        path = os.path.normpath(path)
        if path.startswith(f"{self.rendered}{os.sep}"):
            return path[len(self.rendered) + 1 :]
        return portable_name(Path(path), Path(self.base), tuple(map(Path, self.include_dirs)))

    def to_json(self) -> dict[str, object]:
        return {**self.__dict__, "include_dirs": list(self.include_dirs)}

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Roots:
        base, dirs, rendered = data["base"], data["include_dirs"], data["rendered"]
        assert isinstance(dirs, Sequence)
        return cls(str(base), tuple(map(str, dirs)), str(rendered))


@dataclass(frozen=True)
class KernelSources:
    """Source files of a module on this machine; `rendered` are folders of generated ones."""

    base: Path
    include_dirs: tuple[Path, ...]
    rendered: tuple[Path, ...] = ()
    _lines: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, spec: ModuleSpec, rendered: Sequence[Path] = ()) -> KernelSources:
        dirs = tuple(path.absolute() for path in spec.include_dirs)
        return cls(spec.base.absolute(), dirs, tuple(rendered))

    @classmethod
    def nowhere(cls) -> KernelSources:
        """Sources for files of another machine: only absolute paths are looked up."""
        return cls(Path(), ())

    def path(self, name: str) -> Path | None:
        if name.startswith("/"):
            return Path(name) if os.path.isfile(name) else None
        places = (folder / name for folder in self.rendered)
        rendered = next((path for path in places if os.path.isfile(path)), None)
        return rendered or locate(name, self.base, self.include_dirs)

    def shown(self, place: SourcePlace | None) -> str:
        """Spell a place as a path that can be opened from the working directory."""
        if place is None:
            return "no line known"
        path = self.path(place.file)
        if path is None:
            return str(place)
        text = str(path)
        inside = text.startswith(f"{self._here}{os.sep}")
        return f"{text[len(self._here) + 1 :] if inside else friendly(text)}:{place.line}"

    def text(self, place: SourcePlace) -> str:
        """Text of a line; '' if the file is not here."""
        if place.file not in self._lines:
            self._lines[place.file] = self.whole(place.file).splitlines()
        lines = self._lines[place.file]
        return lines[place.line - 1].strip() if 0 < place.line <= len(lines) else ""

    def whole(self, name: str) -> str:
        """Text of a file; '' if it is not here."""
        path = self.path(name)
        return read_text(path, errors="replace") if path else ""

    @cached_property
    def _here(self) -> str:
        return os.getcwd()
