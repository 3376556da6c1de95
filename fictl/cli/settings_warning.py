"""Warnings about variables that a command did not read: invalid values, unknown names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fictl import settings
from fictl.cli import console
from fictl.errors import FictlError

# They show every setting, with what is wrong of it, as their result.
_SHOW_SETTINGS = (("config", "show"), ("doctor",))


def warn_of_settings(path: Sequence[str], error: FictlError | None = None) -> None:
    """Once, at the end: `error` is what the command ended with, and not said again."""
    if tuple(path) in _SHOW_SETTINGS:
        return
    message = error.message if error else ""
    for line in (
        line for line in _problems() if line.partition(" cannot be read")[0] not in message
    ):
        console.warn(line)


def _problems() -> Iterator[str]:
    unreadable = dict.fromkeys(settings.unreadable())
    yield from unreadable
    # Why not then: a settings file that cannot be read is what each of them would say.
    if settings.file_problem() is None:
        yield from map(_unknown, _strange())


def _strange() -> list[tuple[str, str]]:
    if not settings.unknown():
        return []
    # Only now, because reading what ops declare takes as long as all the rest of a short command.
    from fictl.builds.configuration import names_of_ops

    return settings.unknown(names_of_ops())


def _unknown(setting: tuple[str, str]) -> str:
    name, meant = setting
    return f"{name} is not a setting{f'; did you mean {meant}?' if meant else ''}"
