"""Environment variables of a child without logging or validation of its calls."""

from __future__ import annotations

from fictl import settings
from fictl.paths import same_packages


def unwatched(device: str = "") -> dict[str, str]:
    """Return variables that switch off logs, validation and dumps, and keep the import paths.

    device: the device that ops run on, if given.
    """
    chosen = {settings.DEVICE.name: device} if device else {}
    return {
        **chosen,
        settings.LOGLEVEL.name: "0",
        settings.VALIDATE_INPUTS.name: "0",
        settings.TRACE_DUMP.name: "0",
        **same_packages(),
    }
