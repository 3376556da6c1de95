"""The steps of trying it, and what is said of one that failed or was not reached."""

from __future__ import annotations

from collections.abc import Iterator

from fictl.doctor.finding import DoctorFinding, warning

COMPILE, LINK, LOAD, LAUNCH, TRACE = (
    f"probe: {step}" for step in ("compile", "link", "load", "launch", "CUPTI trace")
)


def failed(name: str, found: str, fix: str) -> DoctorFinding:
    return DoctorFinding(name, "error", found, fix, probe=True)


def not_run(
    name: str, reason: str, fix: str = "mend that, then `fictl doctor` again"
) -> DoctorFinding:
    return warning(name, f"not run: {reason}", fix)


def after(step: str) -> Iterator[DoctorFinding]:
    """The steps that a failed one leaves untried."""
    steps = (COMPILE, LINK, LOAD, LAUNCH)
    for name in steps[steps.index(step) + 1 :]:
        yield not_run(name, f"{step.removeprefix('probe: ')} failed")
