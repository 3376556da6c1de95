"""Times of references at one place: measured once a run, for all solutions of a definition.

They are in the judge's memory, which no solution reaches, and were measured while no solution ran.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from fictl.judge.call_time import CallTime
from fictl.judge.config import EvalConfig
from fictl.trace import Definition, Workload

# The oldest are forgotten, and measured again.
_MOST = 10_000


@dataclass(frozen=True)
class BaselineTime:
    """The time of a call, and the clocks of the GPU then."""

    call: CallTime
    clocks: dict[str, Any]


class BaselineTimes:
    """Known by all that decides them: definition, workload, and how they are measured."""

    def __init__(self) -> None:
        self._known: dict[str, BaselineTime] = {}

    def find(self, key: str) -> BaselineTime | None:
        return self._known.get(key)

    def keep(self, key: str, time: BaselineTime) -> None:
        self._known[key] = time
        while len(self._known) > _MOST:
            del self._known[next(iter(self._known))]


def key_of(definition: Definition, workload: Workload, config: EvalConfig) -> str:
    how = f"{config.device} {config.iterations} {config.num_trials}"
    texts = (definition.model_dump_json(), workload.model_dump_json(), how)
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
