"""Start of what FICTL_APPLY and FICTL_TRACING ask for, when a program imports its first op."""

from __future__ import annotations

from fictl import settings
from fictl.apply import enable_apply
from fictl.integration.hooks import install
from fictl.tracing import enable_tracing


def start() -> None:
    """Switch apply and tracing on for the whole program, with hooks in all its ops."""
    if settings.TRACING.get() is not None:
        enable_tracing()
    if settings.APPLY.get() is not None:
        enable_apply(is_import=True)
    install()
