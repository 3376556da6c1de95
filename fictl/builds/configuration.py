"""The settings in force: those of fictl and of ops, each with its origin."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fictl import settings
from fictl.errors import FictlError
from fictl.project import Project, folders
from fictl.project.python_source import SourceError
from fictl.redact import hidden, hide_secrets
from fictl.settings import Setting


@dataclass(frozen=True)
class SettingRow:
    """One setting, with secrets hidden; `problem` says why its value cannot be read."""

    name: str
    value: Any
    default: Any
    origin: str
    place: str
    doc: str
    problem: str = ""


@dataclass(frozen=True)
class Configuration:
    """All settings, unknown names with suggestions, and the project."""

    settings: tuple[SettingRow, ...]
    unknown: tuple[tuple[str, str], ...]
    file: str
    project: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        unknown = [{"name": name, "suggestion": meant or None} for name, meant in self.unknown]
        return {**asdict(self), "unknown": unknown}


def configuration() -> Configuration:
    """Return the settings that a command started here would use."""
    declared = tuple(_of_ops())
    here = Project.at()
    return Configuration(
        settings=tuple(_row(setting) for setting in (*settings.SETTINGS, *declared)),
        unknown=tuple(settings.unknown(setting.name for setting in declared)),
        file=hide_secrets(str(settings.file_in_use().path)),
        project={"name": here.name, "root": str(here.root), "archs": here.archs},
    )


def names_of_ops() -> list[str]:
    """List the settings that ops declare; projects that cannot be read are left out."""
    with suppress(FictlError):
        return [setting.name for setting in _of_ops()]
    return []


def _of_ops() -> Iterator[Setting[str]]:
    """Yield settings that only ops declare; a name that fictl also has belongs to fictl."""
    own = {setting.name for setting in settings.SETTINGS}
    declared_docs: dict[str, str] = {}
    for folder in (folder for project in Project.all() for folder in folders(project)):
        with suppress(SourceError):  # `fictl check` reports the error.
            for declared in folder.declarations():
                declared_docs.update(declared.settings)
    for name, doc in sorted(item for item in declared_docs.items() if item[0] not in own):
        yield Setting(name, "text", str, "", doc)


def _row(setting: Setting[Any]) -> SettingRow:
    try:
        origin = setting.origin()
        value, problem = setting.get(), ""
    except FictlError as error:
        return SettingRow(
            setting.name,
            None,
            _plain(setting.default),
            "unreadable",
            "",
            setting.doc,
            hide_secrets(error.message),
        )
    shown = hidden(setting.name, _plain(value))
    if (
        setting.kind == "paths"
        and hide_secrets(joined := os.pathsep.join(map(str, value))) != joined
    ):
        shown = [hide_secrets(joined)]  # A ':' may have split a text that is not a list of paths.
    return SettingRow(
        setting.name,
        shown,
        _plain(setting.default),
        origin.kind,
        origin.place,
        setting.doc,
        problem,
    )


def _plain(value: Any) -> Any:
    """Convert paths and tuples to JSON values."""
    if isinstance(value, Path):
        return str(value)
    return [_plain(part) for part in value] if isinstance(value, tuple) else value
