"""The one seed of a test run, which every generated test has in its name."""

from __future__ import annotations

import random
import re

_IN_NAME = re.compile(r",seed=(\d+)$")


def session_seed(run: str | None = None) -> int:
    """A fresh one; the same in all processes that share the identity of a `run`."""
    return random.Random(run).randrange(1, 2**31)  # noqa: S311 no secret


def seed_of(text: str) -> int | None:
    """The one that the name of a generated test ends with."""
    found = _IN_NAME.search(text)
    return int(found[1]) if found else None
