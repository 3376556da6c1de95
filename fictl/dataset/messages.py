"""Messages between a run and the process of a slot. Documents of datasets are sent as JSON text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fictl.judge.config import EvalConfig

# Grows when an older process would misread a message of a newer one, or the reverse.
PROTOCOL = 1


@dataclass(frozen=True)
class Greeting:
    """The first request of a run; the process answers Ready before it gets any work."""

    device: str


@dataclass(frozen=True)
class Ready:
    """The versions that run there. `hardware` is empty where the process sees no GPU and needs one."""

    protocol: int
    fictl: str
    python: str
    hardware: str


@dataclass(frozen=True)
class JobStarted:
    """The following builds and evaluations belong to this job; it has no answer."""

    root: Path
    isolated: bool
    config: EvalConfig
    definition: str
    solution: str
    scratch: Path | None = None


@dataclass(frozen=True)
class BuildSolution:
    """Build the job's solution in its scratch folder."""


@dataclass(frozen=True)
class EvaluateWorkload:
    """Evaluate the job's solution on one workload."""

    workload: str


@dataclass(frozen=True)
class Evaluated:
    """The answer to both requests; None after a successful build."""

    evaluation: str | None


@dataclass(frozen=True)
class JudgeFailed:
    """The judge itself has failed: this is not a verdict on the solution."""

    message: str
    hint: str
