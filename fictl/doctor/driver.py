"""Check of the NVIDIA driver: installed, complete, and new enough for what nvcc builds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fictl.doctor.cuda_driver import LIBRARY, CudaDriver, kernel_module
from fictl.doctor.finding import DoctorFinding, error, ok, warning
from fictl.toolchain import Nvcc, candidates

if TYPE_CHECKING:
    from fictl.doctor.facts import Facts

_IN_A_CONTAINER = "in a container: start it with --gpus all"

# NVIDIA's release notes: the first driver of each major version of CUDA.
FIRST_DRIVER = {12: "525.60", 13: "580.65"}


def driver(facts: Facts) -> Iterator[DoctorFinding]:
    name = "driver"
    if facts.driver is None:
        yield _missing(name, facts)
    elif facts.nvcc and facts.driver.cuda[0] < facts.nvcc.cudart_major:
        yield _too_old(name, facts.driver, facts.nvcc)
    else:
        yield ok(name, str(facts.driver))


def _missing(name: str, facts: Facts) -> DoctorFinding:
    rows = facts.smi.gpus if facts.smi else ()
    shown = kernel_module() or next((row.get("driver_version", "") for row in rows), "")
    if shown:
        return error(
            name,
            f"driver {shown} is loaded, but {LIBRARY} is not found",
            f"install the driver's CUDA library (Debian: apt install libcuda1); {_IN_A_CONTAINER} "
            "and NVIDIA_DRIVER_CAPABILITIES=compute,utility",
        )
    return warning(
        name,
        f"none ({LIBRARY} is not found): ops can be built here, not run",
        f"to run them, install NVIDIA's driver {FIRST_DRIVER[12]} or newer; {_IN_A_CONTAINER}",
    )


def _too_old(name: str, driver: CudaDriver, nvcc: Nvcc) -> DoctorFinding:
    needed = FIRST_DRIVER.get(nvcc.cudart_major, "")
    update = " ".join(
        filter(None, ("update the driver to", needed or "one for this CUDA", "or newer"))
    )
    older = [
        f"FICTL_NVCC={place.path}"
        for place in candidates()
        if place.nvcc and place.nvcc.cudart_major <= driver.cuda[0]
    ]
    return error(
        name,
        f"{driver} does not run what nvcc {nvcc.release} builds: that needs CUDA {nvcc.cudart_major}",
        "; or ".join([update, *older[:1]]),
    )
