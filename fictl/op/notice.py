"""What an op says to whoever runs a program, where a setting of its own asks it to."""

from __future__ import annotations

from fictl.log import logger


def notice(line: str) -> None:
    """To stderr, or to the handlers of the program's own logging."""
    logger().info(line)
