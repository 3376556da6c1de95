"""ApplyExplanation: the solution that a call gets, or why it gets the fallback."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ApplyExplanation:
    """Explanation of one call. `sizes` are of the variable axes; `refused` are other solutions."""

    definition: str
    applies: bool
    why: str
    solution: str = ""
    author: str = ""
    speedup: float = 0.0
    hardware: tuple[str, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {
            **vars(self),
            "hardware": list(self.hardware),
            "sizes": dict(self.sizes),
            "refused": dict(self.refused),
        }

    def __str__(self) -> str:
        at = " ".join(f"{axis}={size}" for axis, size in self.sizes.items())
        where = f" at {at}" if at else ""
        if self.applies:
            by = f" by {self.author}" if self.author else ""
            head = f"{self.definition} runs {self.solution}{by}{where}: {self.why}"
        else:
            head = f"{self.definition or 'this call'} runs the fallback{where}: {self.why}"
        return "\n".join([head, *(f"  ✗ {name}: {why}" for name, why in self.refused.items())])
