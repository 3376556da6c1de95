"""One thing that a digest says of a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Remark:
    """`advice` is what to try; `facts` are the numbers that it rests on."""

    topic: str
    text: str
    advice: str = ""
    facts: Mapping[str, float | str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def counted(number: float) -> str:
    """`1.2 M`: large counts, to be read."""
    for unit, scale in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= 10 * scale or (unit != "k" and number >= scale):
            return f"{number / scale:.3g} {unit}"
    return f"{number:.0f}"
