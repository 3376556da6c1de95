"""The Python package of a project's sources: its name, version and licence, for what is made of it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from fictl.errors import UsageError, shown
from fictl.paths import matching, real
from fictl.project import Project
from fictl.project.config import SHARED_FILE
from fictl.toml_text import TomlError, parse_toml
from fictl.user_file import read_bytes, read_text
from fictl.version import VERSION

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?")
# A public version as PEP 440 writes it in its normal form.
_VERSION = re.compile(r"(\d+!)?\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?")
_LICENSE = re.compile(r"[A-Za-z0-9.+() -]{1,200}")
_LICENSE_FILES = ("LICEN[CS]E*", "COPYING*", "NOTICE*")
_LARGEST = 1 << 20


@dataclass(frozen=True)
class SourcePackage:
    """`license` is an SPDX expression, or ''; `license_files` are texts by name."""

    name: str
    version: str
    license: str = ""
    license_files: Mapping[str, bytes] = field(default_factory=dict)


def source_package(project: Project) -> SourcePackage:
    """Read it from the project's pyproject.toml, else from what is installed, else from its name."""
    for folder in dict.fromkeys((project.root, project.top, project.root.parent)):
        # A pyproject.toml above the project may be of something else.
        if folder == project.root.parent and not project.is_shipped:
            continue
        package = _of_file(folder / SHARED_FILE)
        if package is not None:
            break
    else:
        package = _of_installed(project.name)
    if package is None:
        return SourcePackage(project.name.replace("_", "-"), "")
    return replace(package, version=VERSION) if project.is_shipped else package


def _of_file(path: Path) -> SourcePackage | None:
    if not os.path.isfile(path):
        return None
    try:
        table = parse_toml(read_text(path)).get("project", {})
    except (OSError, UnicodeDecodeError, TomlError) as error:
        raise UsageError(f"{path}: {error}", "it says the name and version of the wheel") from None
    if not isinstance(table, dict) or not isinstance(table.get("name"), str):
        return None
    known = _of_installed(table["name"])
    version = table.get("version", known.version if known else "")
    files = table.get("license-files", _LICENSE_FILES)
    texts = dict(_texts(path.parent, files if isinstance(files, list | tuple) else ()))
    return SourcePackage(table["name"], str(version), _expression(table.get("license")), texts)


def _of_installed(name: str) -> SourcePackage | None:
    try:
        distribution = metadata.distribution(name)
    except (metadata.PackageNotFoundError, ValueError):
        return None
    texts = {}
    for file in distribution.files or ():
        if file.parts[0].endswith(".dist-info") and file.parts[1:2] == ("licenses",):
            with suppress(OSError):
                texts["/".join(file.parts[2:])] = read_bytes(Path(str(file.locate())), _LARGEST)
    head = distribution.metadata
    return SourcePackage(
        head["Name"] or name, distribution.version, _expression(head["License-Expression"]), texts
    )


def _texts(folder: Path, patterns: Any) -> Iterator[tuple[str, bytes]]:
    for pattern in patterns:
        # A pattern that leads elsewhere would pack files of somebody else.
        if not isinstance(pattern, str) or os.path.isabs(pattern) or ".." in Path(pattern).parts:
            continue
        for path in matching(folder, pattern):
            name = path.relative_to(folder).as_posix()
            # A name with a line of its own would be a header of the wheel.
            if name.isprintable() and os.path.isfile(path) and real(path) == real(folder) / name:
                yield name, read_bytes(path, _LARGEST)


def _expression(license: object) -> str:
    """Return an SPDX expression; '' for the older forms, which say it in other ways."""
    return license if isinstance(license, str) and _LICENSE.fullmatch(license) else ""


def checked_name(name: str) -> str:
    """Return the name of a package as it stands in file names; refuse what is none."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{shown(name)!r} is not the name of a package", "letters, digits, '-', '_' and '.'"
        )
    return name


def checked_version(version: str) -> str:
    """Return a version in its normal form, which file names are made of; refuse any other."""
    if not _VERSION.fullmatch(version):
        seen = f"{shown(version)!r} is not a version" if version else "the project has no version"
        raise UsageError(seen, "--version gives one, as in 1.2.0")
    return version
