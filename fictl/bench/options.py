"""What a benchmark is asked for, in one value that crosses to the process that runs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from fictl.timing.stop import Stop

ALL = "all"


@dataclass(frozen=True)
class Options:
    """The defaults are those of `fictl bench` without a flag.

    baselines, backends: timed beside the op in the same rounds; 'all' is every one there is.
    case: of the cases whose text has this in it, or one of several between commas.
    axes: these sizes in place of the cases' own.
    rounds: exactly so many, unless max_seconds end first; 0 stops at `stdrel`.
    timeout: seconds for the cases of one op; its process is killed after them.
    """

    baselines: tuple[str, ...] = ()
    backends: tuple[str, ...] = ()
    dtype: str = ""
    case: str = ""
    axes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    timer: str = "auto"
    cold: bool = True
    rounds: int = 0
    stdrel: float = Stop.stdrel
    max_seconds: float = Stop.max_seconds
    refcheck: bool = True
    seed: int = 0
    timeout: float = 600.0
    host: bool = False

    @property
    def stop(self) -> Stop:
        if self.rounds:
            return Stop(float("inf"), self.rounds, 0.0, self.max_seconds)
        return Stop(stdrel=self.stdrel, max_seconds=self.max_seconds)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Options:
        """What JSON makes lists of are tuples here."""
        lists = {name: tuple(data[name]) for name in ("baselines", "backends")}
        axes = {name: tuple(sizes) for name, sizes in data["axes"].items()}
        return cls(**{**data, **lists, "axes": axes})


DEFAULTS = Options()
