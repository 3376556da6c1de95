"""Options that choose cases of an op and say how they are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields


@dataclass(frozen=True)
class CaseOptions:
    """Options of every tool that runs cases: benchmark, profiler, debugger.

    dtype: only cases of this dtype.
    case: only cases whose text contains this, or one of several texts separated by commas.
    axes: sizes in place of the cases' own.
    cold: empty L2 before each call.
    refcheck: compare the results with the trace's reference.
    seed: seed of the random inputs.
    timeout: seconds for the cases of one op; its process is killed after them.
    """

    dtype: str = ""
    case: str = ""
    axes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    cold: bool = True
    refcheck: bool = True
    seed: int = 0
    timeout: float = 600.0

    @property
    def of_cases(self) -> CaseOptions:
        """Return these options alone, without those that a tool adds."""
        return CaseOptions(
            **{field.name: getattr(self, field.name) for field in fields(CaseOptions)}
        )
