"""The seed of a test run, which is part of the name of every generated test."""

from __future__ import annotations

import random
import re

_IN_NAME = re.compile(r",seed=(\d+)$")


def session_seed(run: str | None = None) -> int:
    """Draw a seed; it is the same in all processes that share the identity of a `run`."""
    return random.Random(run).randrange(1, 2**31)  # noqa: S311 no secret


def seed_of(text: str) -> int | None:
    """Read the seed at the end of a generated test's name; None where there is none."""
    match = _IN_NAME.search(text)
    return int(match[1]) if match else None
