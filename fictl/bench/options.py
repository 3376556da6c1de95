"""Options of a benchmark: cases, sides, timing, and time limits."""

from __future__ import annotations

from dataclasses import dataclass

from fictl.case.options import CaseOptions
from fictl.timing.stop import Stop

ALL = "all"


@dataclass(frozen=True)
class BenchOptions(CaseOptions):
    """Defaults are those of `fictl bench` without a flag.

    baselines, backends: sides timed beside the op in the same rounds; 'all' is every one there is.
    timer: cupti, graph, events, host, or auto for the first that works here.
    rounds: exactly this many rounds, unless max_seconds end first; 0 stops at `stdrel`.
    stdrel: stop when the median's relative standard error is below this.
    host: time the host's share of a call, too.
    power: count the energy of a call, too.
    gpus: ranks that call a communication op together, each with a GPU; 0 for other ops.
    """

    baselines: tuple[str, ...] = ()
    backends: tuple[str, ...] = ()
    timer: str = "auto"
    rounds: int = 0
    stdrel: float = Stop.stdrel
    max_seconds: float = Stop.max_seconds
    host: bool = False
    power: bool = False
    gpus: int = 0

    @property
    def stop(self) -> Stop:
        if self.rounds:
            return Stop(float("inf"), self.rounds, 0.0, self.max_seconds)
        return Stop(stdrel=self.stdrel, max_seconds=self.max_seconds)


DEFAULTS = BenchOptions()
