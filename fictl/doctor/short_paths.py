"""Paths of a report without what is the user's: known folders by name, of others the last part."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from fictl.errors import FictlError
from fictl.paths import own_folders
from fictl.project import Project

# Where packages of the system are: the same on many machines.
_SYSTEM = re.compile(r"/(?:usr|opt|bin|sbin|lib(?:32|64)?|etc|proc|sys|dev|nix|snap)(?:/|$)")
# A path begins a word, or follows what says that it is one; what follows a scheme is a host.
_PATH = re.compile(
    r"(?:(?<![\w./~<>-])|(?<=file://)|(?<=-I)|(?<=-L)|(?<=-B))/[^\s/:,;'\"|`()<>]+(?:/[^\s/:,;'\"|`()<>]+)+/?"
)
_HIDDEN = "<path>"


def shorten(text: str) -> str:
    for folder, name in sorted(_known().items(), key=lambda pair: -len(pair[0])):
        text = re.sub(rf"{re.escape(folder)}(?![\w.-])", name, text)
    return _PATH.sub(lambda match: _short(match[0]), text)


def _known() -> dict[str, str]:
    """Return folders with their names; also those with spaces, which no pattern finds."""
    folders = {str(path): f"<{name}>" for name, path in own_folders().items()}
    # A finding says why there is none.
    with suppress(FictlError, OSError):
        folders |= {str(Path.cwd()): "<here>", str(Project.at().top): "<project>"}
    folders |= {str(path): "~" for name, path in own_folders().items() if name == "home"}
    return {
        folder: name
        for folder, name in folders.items()
        if folder.count("/") > 1 and not _SYSTEM.match(folder)
    }


def _short(path: str) -> str:
    if _SYSTEM.match(path):
        return path
    _, *above, last = path.rstrip("/").split("/")
    return f"…/{last}" if len(above) > 1 else _HIDDEN
