"""KernelFacts: the numbers of one kernel in a profile, whatever tool measured it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from fictl.profile.ncu.launch import short_name


@dataclass(frozen=True)
class KernelFacts:
    """Equal launches. seconds: of one of them. numbers: registers and the like. stalls: percent of a
    warp's time by reason. bytes: by the memory that they were moved at.
    """

    name: str
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    launches: float = 1.0
    seconds: float | None = None
    numbers: Mapping[str, float] = field(default_factory=dict)
    stalls: Mapping[str, float] = field(default_factory=dict)
    bytes: Mapping[str, float] = field(default_factory=dict)

    @property
    def short(self) -> str:
        """The name without template arguments: an edit may have changed these."""
        return short_name(self.name)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)
