"""Meaning of the first lines of a report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fictl.emu import describe
from fictl.emu.report import Other, Place


@dataclass(frozen=True)
class Title:
    """Kind and words of a report.

    `place`, `kernel` and `other` are set where the lines after the title do not give them.
    """

    kind: str
    what: str
    facts: dict[str, Any] = field(default_factory=dict)
    kernel: str = ""
    place: Place | None = None
    other: Other | None = None

    @property
    def cause(self) -> str:
        return _CAUSES.get(self.kind) or describe.cause(self.kind, self.facts)


_CAUSES = {
    "race": "__syncthreads(), or __syncwarp() within a warp, is missing between them",
    "divergent-barrier": "a barrier in a branch that not all of its threads take: move it out",
    "uninitialised": "the store is missing, or its guard leaves out what is read",
}


def number(text: str) -> int:
    return int(text.replace(",", ""))


def with_article(word: str) -> str:
    return f"an {word}" if word[:1] in "aeiou" else f"a {word}"
