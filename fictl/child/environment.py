"""Environment variables of a child whose calls are not logged, validated, traced or replaced."""

from __future__ import annotations

from fictl import settings
from fictl.paths import same_packages


def unwatched(device: str = "") -> dict[str, str]:
    """Return variables that switch off logs, validation, dumps, tracing and solutions in place of
    ops, and keep the import paths.

    device: the device that ops run on, if given.
    """
    chosen = {settings.DEVICE.name: device} if device else {}
    return {
        **chosen,
        settings.LOGLEVEL.name: "0",
        settings.VALIDATE_INPUTS.name: "0",
        settings.TRACE_DUMP.name: "0",
        **unreplaced(),
        **same_packages(),
    }


def unreplaced() -> dict[str, str]:
    """Return variables with which calls of ops are the ops' own: no solution, no tracing."""
    return {settings.APPLY.name: "", settings.TRACING.name: ""}
