"""Environment variables of a child whose calls nothing may watch or slow down."""

from __future__ import annotations

from fictl import settings
from fictl.paths import same_packages


def unwatched(device: str = "") -> dict[str, str]:
    """No log, no validation and no dump of calls; the same packages; ops run on `device`, if given."""
    chosen = {settings.DEVICE.name: device} if device else {}
    return {
        **chosen,
        settings.LOGLEVEL.name: "0",
        settings.VALIDATE_INPUTS.name: "0",
        settings.TRACE_DUMP.name: "0",
        **same_packages(),
    }
