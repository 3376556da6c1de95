"""Steps of the probe, and findings for those that failed or were not reached."""

from __future__ import annotations

from collections.abc import Iterator

from fictl.doctor.finding import DoctorFinding, warning

COMPILE, LINK, LOAD, LAUNCH, TRACE = (
    f"probe: {step}" for step in ("compile", "link", "load", "launch", "CUPTI trace")
)


def failed(name: str, text: str, fix: str) -> DoctorFinding:
    return DoctorFinding(name, "error", text, fix, probe=True)


def not_run(
    name: str, reason: str, fix: str = "mend that, then `fictl doctor` again"
) -> DoctorFinding:
    return warning(name, f"not run: {reason}", fix)


def after(step: str) -> Iterator[DoctorFinding]:
    """Findings for the steps after a failed one, which were not tried."""
    steps = (COMPILE, LINK, LOAD, LAUNCH)
    for name in steps[steps.index(step) + 1 :]:
        yield not_run(name, f"{step.removeprefix('probe: ')} failed")
