"""What a hostile solution's first line says that it has earned."""

from __future__ import annotations

from dataclasses import dataclass

from fictl.trace import Evaluation

from .judge_runs import said

_WORDS = ("dps", "sandboxed")


@dataclass(frozen=True)
class Earned:
    """One of `statuses`, `part` in the log, and if it passes no time below `least` ms."""

    statuses: tuple[str, ...]
    words: tuple[str, ...]
    part: str
    least: float

    @classmethod
    def of(cls, source: str) -> Earned:
        """STATUS[/STATUS] [dps] [sandboxed] [9ms][: part of the log], in quotes."""
        first, _, part = source.splitlines()[0].strip('"').partition(": ")
        status, *words = first.split()
        least = [float(word.removesuffix("ms")) for word in words if word.endswith("ms")]
        known = tuple(word for word in words if word in _WORDS)
        return cls((*status.split("/"),), known, part, *(least or [0.0]))

    @property
    def dps(self) -> bool:
        return "dps" in self.words

    def require(self, found: Evaluation) -> None:
        assert found.status.value in self.statuses, said(found)
        assert self.part in found.log, said(found)
        if found.performance is not None:
            assert found.performance.latency_ms >= self.least, found.fictl
