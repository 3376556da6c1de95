"""The remotes of FICTL_REMOTE, nearest first. Asking for them costs nothing: no client is imported."""

from __future__ import annotations

from fictl import settings
from fictl.redact import hide_secrets

READ, WRITE, OFF = "read", "write", "off"


def are_set() -> bool:
    """True if a lookup may ask a remote, or has to say why it does not."""
    return bool(settings.REMOTE.get())


def is_written() -> bool:
    """True if own builds are sent to a remote."""
    return are_set() and settings.REMOTE_MODE.get() == WRITE


def urls() -> tuple[str, ...]:
    """Return the URLs to ask."""
    return () if settings.REMOTE_MODE.get() == OFF else settings.REMOTE.get()


def silent() -> list[str]:
    """Say of each remote that is switched off that it is, for the error about a missing build."""
    if settings.REMOTE_MODE.get() != OFF:
        return []
    off = f"{settings.REMOTE_MODE.name}=off"
    return [f"{hide_secrets(url)} is not asked: {off}" for url in settings.REMOTE.get()]
