"""Check that two results were measured under the same conditions: GPU, clock, timer."""

from __future__ import annotations

from collections.abc import Iterator

from fictl.bench.result import BenchReport, Environment
from fictl.bench.row import Row
from fictl.errors import UsageError
from fictl.timing.clocks import are_alike


def where(environment: Environment) -> str:
    """Describe the machine in short for readers: `NVIDIA H200 · 1980 MHz`."""
    if environment.device != "cuda":
        return "emulated device"
    clock = f"{environment.sm_mhz} MHz" if environment.sm_mhz else ""
    return " · ".join(filter(None, (environment.gpu or "unknown GPU", clock)))


def require_alike(a: BenchReport, b: BenchReport, labels: tuple[str, str]) -> None:
    """Refuse results of different conditions; the error names each difference with both values."""
    problems = list(differences(a, b))
    if problems:
        raise UsageError(
            f"{labels[0]} and {labels[1]} were not measured alike: {'; '.join(problems)}",
            "measure both here, in one run; or --force, and do not trust the verdicts",
        )


def differences(a: BenchReport, b: BenchReport) -> Iterator[str]:
    old, new = a.environment, b.environment
    if old.device != new.device:
        yield f"device {old.device} and {new.device}"
    elif old.gpu != new.gpu:
        yield f"GPU {old.gpu or 'unknown'} and {new.gpu or 'unknown'}"
    elif not are_alike(new.sm_mhz or 0, old.sm_mhz or 0):
        yield f"clocks of {old.sm_mhz} and {new.sm_mhz} MHz"
    first, second = _ways(a), _ways(b)
    for what in (what for what in first if what in second):
        if first[what] != second[what]:
            yield f"{what} timed by {first[what]} and {second[what]}"
            return  # One case is enough: the others differ in the same way.


def _ways(report: BenchReport) -> dict[str, str]:
    """Return the timer and the L2 state of each case."""
    timed = (row for row in report.rows if row.samples and not row.is_baseline)
    return {f"{row.case} {row.side} {row.step}".removesuffix(" run"): _way(row) for row in timed}


def _way(row: Row) -> str:
    return f"{row.timer}, {'cold' if row.cold else 'warm'} L2"
