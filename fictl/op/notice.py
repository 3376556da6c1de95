"""Messages of an op to the user, if a setting of the op enables them."""

from __future__ import annotations

from fictl.log import logger


def notice(line: str) -> None:
    """Log a line to stderr, or to the handlers of the program's own logging."""
    logger().info(line)
