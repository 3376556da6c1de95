"""Copies of a project that Python imports by its name: a wheel, unpacked or not."""

from __future__ import annotations

import os
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

from fictl.errors import FictlError
from fictl.project.config import OWN_FILE
from fictl.project.project import Project
from fictl.toml_text import parse_toml


def is_copy(project: Project) -> bool:
    """Tell if the package that has the project's name says that it is of this project."""
    spec = find_spec(project.package)
    places = spec.submodule_search_locations if spec else None
    return any(_name_at(spec, place) == project.name for place in places or () if spec)


def _name_at(spec: ModuleSpec, place: str) -> str:
    """Name of the project whose fictl.toml lies in a package; '' if there is none."""
    if os.path.isdir(place):
        try:
            project = Project.of(Path(place))
        except FictlError:
            return ""
        return project.name if project else ""
    read = getattr(spec.loader, "get_data", None)
    try:
        text = read(os.path.join(place, OWN_FILE)).decode() if read else ""
        return str(parse_toml(text).get("name", ""))
    except (OSError, ValueError):
        return ""
