"""One remark of a digest on a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Remark:
    """A remark. advice: a change to try. facts: the numbers behind it."""

    topic: str
    text: str
    advice: str = ""
    facts: Mapping[str, float | str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def counted(number: float) -> str:
    """Spell large counts for people, as in `1.2 M`."""
    for unit, scale in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= 10 * scale or (unit != "k" and number >= scale):
            return f"{number / scale:.3g} {unit}"
    return f"{number:.0f}"
