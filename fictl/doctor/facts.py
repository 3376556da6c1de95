"""Facts of this machine that several checks need, gathered once."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fictl.doctor.cuda_driver import CudaDriver, read_driver
from fictl.doctor.finding import DoctorFinding, error
from fictl.doctor.parallel import at_once
from fictl.errors import FictlError
from fictl.toolchain import HostCompiler, Nvcc, Probe, find_cxx, find_nvcc, probe
from fictl.toolchain.smi import Smi, read_smi

_SECONDS = 30.0


@dataclass(frozen=True)
class Facts:
    """Facts of this machine; None for what is missing or unusable, which its check explains."""

    nvcc: Nvcc | None = None
    cxx: HostCompiler | None = None
    gpus: Probe = field(default_factory=Probe)
    driver: CudaDriver | None = None
    smi: Smi | None = None
    # Environment of the programs that fictl starts; fictl's own settings are in settings.py.
    environ: Mapping[str, str] = field(default_factory=dict)


def gather() -> tuple[Facts, list[DoctorFinding]]:
    """Gather the facts, and findings for those that could not be gathered."""
    questions: dict[str, Callable[[], Any]] = {
        "nvcc": find_nvcc,
        "cxx": find_cxx,
        "gpus": probe,
        "driver": read_driver,
        "smi": read_smi,
    }
    answers = at_once(questions, _SECONDS)
    known = {name: value for name, value in answers.items() if not isinstance(value, Exception)}
    findings = [
        broken(name, value)
        for name, value in answers.items()
        if isinstance(value, Exception) and not isinstance(value, FictlError)
    ]
    return Facts(**known, environ=dict(os.environ)), findings


def broken(name: str, why: Exception) -> DoctorFinding:
    """Finding for an unexpected error."""
    if isinstance(why, TimeoutError):
        return error(name, f"{why}: what it asks hangs", "nvidia-smi, df and nvcc show what hangs")
    return error(
        name,
        f"the check itself failed: {type(why).__name__}: {why}",
        "this is a bug in fictl; `fictl doctor --report` makes the text to report it with",
    )
