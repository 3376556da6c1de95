"""Evaluation: the result of running a solution on a workload."""

from __future__ import annotations

from enum import Enum
from typing import Any

from pydantic import Field, model_validator

from fictl.trace.documents.part import NonEmpty, NotNegative, Part, RealNotNegative


class EvaluationStatus(str, Enum):
    """Statuses of flashinfer-bench; the last two are SOL-ExecBench's."""

    PASSED = "PASSED"
    INCORRECT_SHAPE = "INCORRECT_SHAPE"
    INCORRECT_NUMERICAL = "INCORRECT_NUMERICAL"
    INCORRECT_DTYPE = "INCORRECT_DTYPE"
    RUNTIME_ERROR = "RUNTIME_ERROR"
    COMPILE_ERROR = "COMPILE_ERROR"
    TIMEOUT = "TIMEOUT"
    REWARD_HACK = "REWARD_HACK"
    INVALID_REFERENCE = "INVALID_REFERENCE"


_MUST: dict[EvaluationStatus, set[str]] = {
    EvaluationStatus.PASSED: {"correctness", "performance"},
    EvaluationStatus.INCORRECT_NUMERICAL: {"correctness"},
}
# Statuses that may have measurements although these do not count.
_MAY = {EvaluationStatus.REWARD_HACK, EvaluationStatus.INVALID_REFERENCE}


class Correctness(Part):
    """Largest errors; NaN if they are not defined."""

    max_relative_error: RealNotNegative = 0.0
    max_absolute_error: RealNotNegative = 0.0
    extra: dict[str, Any] | None = None


class Performance(Part):
    """`speedup_factor` is the reference's time over the solution's."""

    latency_ms: NotNegative = 0.0
    reference_latency_ms: NotNegative = 0.0
    speedup_factor: NotNegative = 0.0


class Environment(Part):
    """Machine of the run: `hardware` as in NVIDIA_H200, and versions of libraries."""

    hardware: NonEmpty
    libs: dict[str, str] = Field(default_factory=dict)


class Evaluation(Part):
    """`fictl` is fictl's own: the timer, the seed, the sandbox, the solution's hash."""

    status: EvaluationStatus
    environment: Environment
    timestamp: NonEmpty
    log: str = ""
    correctness: Correctness | None = None
    performance: Performance | None = None
    fictl: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _says_what_its_status_demands(self) -> Evaluation:
        demanded = _MUST.get(self.status, set())
        given = {name for name in ("correctness", "performance") if getattr(self, name) is not None}
        for name in sorted(demanded - given):
            raise ValueError(f"{self.status.value} needs {name}")
        for name in sorted(given - demanded if self.status not in _MAY else ()):
            raise ValueError(f"{self.status.value} has no {name}")
        return self
