"""Messages of an op to whoever runs a program, where a setting of its own asks for them."""

from __future__ import annotations

from fictl.log import logger


def notice(line: str) -> None:
    """Log a line to stderr, or to the handlers of the program's own logging."""
    logger().info(line)
