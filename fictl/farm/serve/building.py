"""Builds of a place: made ahead of the solutions that need them, which wait or are put off."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import TYPE_CHECKING

from fictl.farm.line import Deferred, Greeting
from fictl.jit.jobs import usable_cores

if TYPE_CHECKING:
    from fictl.judge.once.builder import Builder

# A compiler uses several cores, and evaluations need some.
CORES_EACH = 4
# A solution that orders again and again, each time something new, then builds in its own process.
_MOST_WAITS = 8
# Tries of solutions that are alike, of which each has shown that it waits for the same.
_MOST_ALIKE = 2


class PlaceBuilds:
    """Knows which solutions wait for which build: those alike need not be started to find out."""

    def __init__(self, greeting: Greeting) -> None:
        self._greeting = greeting
        self._builder: Builder | None = None
        self._waits: Counter[str] = Counter()
        self._alike: dict[str, tuple[str, int]] = {}

    def builder_for(self, solution: str) -> Builder | None:
        """Return what builds for a solution; None where it builds in its own process."""
        if not self._greeting.run or self._waits[_hash(solution)] >= _MOST_WAITS:
            return None
        if self._builder is None:
            from fictl.judge.once.builder import Builder
            from fictl.judge.once.shelf import Shelf

            at_once = self._greeting.builds or max(1, usable_cores() // CORES_EACH)
            self._builder = Builder(Shelf(self._greeting.run), at_once)
        return self._builder

    def known_to_wait(self, solution: str) -> str:
        """Return the build that a solution will wait for, as far as those alike tell; or ''."""
        kind = kind_of(solution)
        key, tries = self._alike.get(kind, ("", 0))
        if self._builder is None or not self._builder.is_pending(key):
            self._alike.pop(kind, None)
            return ""
        return "" if tries < _MOST_ALIKE and self._builder.has_room else key

    def waits(self, solution: str, key: str) -> None:
        self._waits[_hash(solution)] += 1
        kind = kind_of(solution)
        self._alike[kind] = (key, self._alike.get(kind, ("", 0))[1] + 1)

    def wait(self, key: str, seconds: float, others: bool = False) -> bool:
        """Wait for a build; see Builder.wait."""
        return self._builder is None or self._builder.wait(key, seconds, others)

    def deferred(self, key: str) -> Deferred:
        return Deferred(key, self._builder.news() if self._builder is not None else ())

    def close(self) -> None:
        if self._builder is not None:
            self._builder.close()


def kind_of(solution: str) -> str:
    """Return a hash that solutions share which differ in name, definition and entry file only."""
    document = json.loads(solution)
    entry = str(document["spec"]["entry_point"]).partition("::")[0]
    files = [(one["path"], one["content"]) for one in document["sources"]]
    alike = sorted(one for one in files if one[0] != entry) or files
    return _hash(json.dumps(alike))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
