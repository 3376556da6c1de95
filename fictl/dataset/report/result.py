"""Result: one result of a dataset, reduced to the fields that a report needs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fictl.trace import Trace

_LONGEST = 200
_TRACEBACK = "Traceback (most recent call last)"
# Control characters of terminals, and Unicode's direction marks.
_STRANGE = re.compile(
    r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)


@dataclass(frozen=True, slots=True)
class Result:
    """`speedup` is 0 if the reference was not timed; `cause` is a line of the log.

    place, sm_mhz: where it was evaluated, and the GPU's clock then; empty and 0 if unknown.
    """

    definition: str
    solution: str
    author: str
    workload: str
    hardware: str
    status: str
    latency_ms: float = 0.0
    speedup: float = 0.0
    cause: str = ""
    device: str = ""
    place: str = ""
    sm_mhz: int = 0

    @property
    def is_of_gpu(self) -> bool:
        """Tell whether it ran on a GPU; results of other tools do not record it, and
        count as such.
        """
        return self.device not in ("emu", "cpu")

    @property
    def passed(self) -> bool:
        return self.status == "PASSED"

    @property
    def task(self) -> tuple[str, str]:
        return self.definition, self.workload

    @classmethod
    def of(cls, trace: Trace, author: str) -> Result | None:
        """Read a trace; None if it is not a result."""
        evaluation = trace.evaluation
        if evaluation is None or trace.solution is None:
            return None
        time, facts = evaluation.performance, evaluation.fictl or {}
        return cls(
            trace.definition,
            trace.solution,
            author,
            trace.workload.uuid,
            evaluation.environment.hardware,
            evaluation.status.value,
            time.latency_ms if time else 0.0,
            time.speedup_factor if time else 0.0,
            "" if evaluation.status.value == "PASSED" else cause(evaluation.log),
            str(facts.get("device", "")),
            str(facts.get("place", "")),
            _clock(facts.get("clocks")),
        )


def _clock(facts: Any) -> int:
    value = facts.get("sm_mhz") if isinstance(facts, dict) else None
    return value if isinstance(value, int) and value > 0 else 0


def cause(log: str) -> str:
    """The line of a log that explains the failure: the first, or the end of a traceback."""
    lines = [line for line in _STRANGE.sub("", log[: 1 << 16]).splitlines() if line.strip()]
    if not lines:
        return ""
    first = lines[0]
    if _TRACEBACK in first:
        ends = (line for line in lines[1:] if not line.startswith((" ", "\t")))
        first = next((line for line in ends if _TRACEBACK not in line), lines[-1])
    text = first.strip()
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
