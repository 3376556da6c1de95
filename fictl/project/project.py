"""Project: the name and the folders of a set of ops. The shipped ops are a project too."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fictl.errors import UsageError
from fictl.paths import data_root, real
from fictl.project.config import OWN_FILE, SHARED_FILE, Config, read_config

ENTRY_POINTS = "fictl.projects"
_OURS = "fictl"


@dataclass(frozen=True)
class Project:
    """A set of ops.

    name: the prefix of includes. package: the Python package of its op folders. templates: the
    folder of its own templates for new ops.
    """

    name: str
    package: str
    root: Path
    kernels: Path
    tests: Path
    archs: str
    templates: Path | None = None

    @classmethod
    def shipped(cls) -> Project:
        return _shipped()

    @classmethod
    def at(cls, path: Path | None = None) -> Project:
        """Return the nearest project in or above `path` (default: cwd), else the shipped one."""
        here = real(path or Path.cwd())
        for folder in (here, *here.parents):
            project = cls.shipped() if folder == data_root("kernels") else cls.of(folder)
            if project is not None:
                return project
        return cls.shipped()

    @classmethod
    def of(cls, folder: Path) -> Project | None:
        """Return the project whose settings file is in `folder` itself, or None."""
        for name in (OWN_FILE, SHARED_FILE):
            path = folder / name
            # fictl.toml must be readable; a pyproject.toml that is a folder is skipped.
            there = os.path.lexists(path) if name == OWN_FILE else os.path.isfile(path)
            config = read_config(path) if there else None
            if config is not None:
                project = _from(config, folder)
                _refuse_our_name(project, path)
                return project
        return None

    @classmethod
    def all(cls) -> tuple[Project, ...]:
        """Return the project here, the shipped one, and those that packages register.

        Of several with one name, as a checkout and its wheel, the first counts.
        """
        by_name: dict[str, Project] = {}
        for project in (cls.at(), cls.shipped(), *_installed()):
            by_name.setdefault(project.name, project)
        return tuple(by_name.values())

    @property
    def is_shipped(self) -> bool:
        return self.root == data_root("kernels")

    @property
    def top(self) -> Path:
        """Common folder of all its files: usually the root, unless kernels or tests are outside."""
        return Path(os.path.commonpath([self.root, self.kernels, self.tests]))

    @property
    def include(self) -> Path:
        """Include folder for C++ users, as in -I."""
        return self.kernels / "include"

    @property
    def include_dirs(self) -> tuple[Path, ...]:
        """Include folders for `<name/…>` and `<binding/…>`; the project's first, then fictl's."""
        shipped = Project.shipped()
        places = (self.include, self.kernels, shipped.include, shipped.kernels)
        return tuple(dict.fromkeys(places))


@cache
def _shipped() -> Project:
    project = Project.of(data_root("kernels"))
    if project is None:
        raise UsageError(
            f"fictl's own kernels are not at {data_root('kernels')}", "install fictl again"
        )
    return project


def _from(config: Config, folder: Path) -> Project:
    root = real(folder)
    return Project(
        config.name,
        config.package or config.name,
        root,
        real(root / config.kernels),
        real(root / config.tests),
        config.archs,
        real(root / config.templates) if config.templates else None,
    )


def _refuse_our_name(project: Project, path: Path) -> None:
    if project.name == _OURS and not project.is_shipped:
        raise UsageError(
            f"{path}: the name {_OURS!r} is taken by {data_root('kernels')}",
            "give the project another name; in a checkout of fictl, pip install -e .",
        )


def _installed() -> Iterator[Project]:
    from importlib.metadata import entry_points
    from importlib.util import find_spec

    for entry in entry_points(group=ENTRY_POINTS):
        spec = find_spec(entry.value)
        for folder in (spec and spec.submodule_search_locations) or ():
            project = Project.of(Path(folder)) or Project.at(Path(folder))
            if project.package == entry.value or project.root == real(Path(folder)):
                yield project
