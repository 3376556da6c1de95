"""Recognition of a fictl project's folder by file names, in microseconds, without imports.

The pytest plugin asks it in every project of the machine; `fictl.project` then reads the file.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

OWN_FILE, SHARED_FILE = "fictl.toml", "pyproject.toml"

_PACKAGE = Path(__file__).resolve().parent
# Installed packages do not belong to the project that contains their virtual environment.
_INSTALLED = ("site-packages", "dist-packages")


def project_folder(folder: Path) -> Path | None:
    """Return the nearest project in or above `folder`; None if that is not a fictl project."""
    return _nearest(folder.resolve())


@cache
def _nearest(folder: Path) -> Path | None:
    if _is_project(folder):
        return folder
    ended = folder.parent == folder or folder.name in _INSTALLED
    return None if ended else _nearest(folder.parent)


def _is_project(folder: Path) -> bool:
    # Accept a broken link as well: reading it reports the error.
    if os.path.lexists(folder / OWN_FILE):
        return True
    return folder == _PACKAGE or is_our_checkout(folder) or _has_table(folder / SHARED_FILE)


def is_our_checkout(folder: Path) -> bool:
    """True in a checkout of fictl, whose own kernels are a project beside its tests."""
    return folder == _PACKAGE.parent and os.path.isfile(folder / "kernels" / OWN_FILE)


def _has_table(path: Path) -> bool:
    """True if a pyproject.toml has [tool.fictl]; the same words in a comment do not count."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace") if os.path.isfile(path) else ""
    except OSError:
        return False
    return "tool.fictl" in text and _table_in(text)


def _table_in(text: str) -> bool:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        tool = tomllib.loads(text).get("tool", {})
    except tomllib.TOMLDecodeError:
        return True  # It names fictl: reading it later reports the faulty line.
    return isinstance(tool, dict) and "fictl" in tool
