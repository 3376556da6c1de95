"""The format of a file that is written: by its ending, or as asked for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from fictl.errors import UsageError

_ENDINGS = {
    "markdown": (".md", ".markdown"),
    "junit": (".xml",),
    "csv": (".csv",),
    "json": (".json",),
    "plot": (".svg", ".html", ".png"),
}


def formats(paths: Sequence[Path], given: str, known: Collection[str]) -> list[tuple[Path, str]]:
    """Pair each path with its format, or raise before anything is measured."""
    if given and given not in known:
        raise UsageError(f"there is no format {given!r}", f"one of {', '.join(known)}")
    if given and not paths:
        raise UsageError(f"--format {given} is of no file", "name one with --out, or leave it out")
    return [(path, _format_of(path, given, known)) for path in paths]


def _format_of(path: Path, given: str, known: Collection[str]) -> str:
    """Return the format of a file; `given` decides where it is not ''."""
    if given:
        return _given(path, given)
    by_ending = {ending: name for name in known for ending in _ENDINGS[name]}
    if path.suffix.lower() not in by_ending:
        raise UsageError(
            f"the ending of {path} names no format",
            f"it may be {', '.join(by_ending)}; or give --format {'|'.join(known)}",
        )
    return by_ending[path.suffix.lower()]


def _given(path: Path, given: str) -> str:
    if given == "plot" and path.suffix.lower() not in _ENDINGS["plot"]:
        raise UsageError(
            f"{path} is not a picture", f"its name ends in {', '.join(_ENDINGS['plot'])}"
        )
    return given
