"""The library's only logger; its stderr handler is added at first use, never at import."""

from __future__ import annotations

import logging
from functools import cache

from fictl import settings


def logger() -> logging.Logger:
    log = logging.getLogger("fictl")
    if not log.handlers and not logging.getLogger().handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("fictl: %(message)s"))
        log.addHandler(handler)
        log.propagate = False
    log.setLevel(settings.LOGGING_LEVEL.get().upper())
    return log


@cache
def warn_once(text: str) -> None:
    """Warn once about a condition that every further lookup would meet again."""
    logger().warning("%s", text)
