"""Check of memory and cores against the number of compilers that a build runs at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fictl import settings
from fictl.doctor.finding import DoctorFinding, ok, warning
from fictl.jit.jobs import available_kib, choose, fitting, usable_cores

if TYPE_CHECKING:
    from fictl.doctor.facts import Facts


def memory(facts: Facts) -> Iterator[DoctorFinding]:
    cores, fit, limit = usable_cores(), fitting(), settings.MAX_JOBS.get()
    jobs = choose(units=max(cores, limit or 0), device_units=0, archs=1, peak_kib=0).jobs
    seen = f"{available_kib() / 2**20:.1f} GiB free for {jobs} compiler{'s' * (jobs != 1)} at once"
    if limit and limit > max(1, fit):
        text = f"{seen} ({settings.MAX_JOBS.origin().place}): heavy units take 3 GiB each"
        yield warning("memory", text, f"{settings.MAX_JOBS.name}={max(1, fit)}, or none at all")
    elif fit < 1:
        text = f"{seen}: a heavy unit takes 3 GiB and may be killed"
        yield warning("memory", text, "end other programs, or raise the container's memory limit")
    else:
        yield ok("memory", f"{seen}, {cores} cores")
