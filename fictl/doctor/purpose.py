"""The use of a machine: which checks count for it, and how much."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from fictl.doctor.cuda_driver import kernel_module
from fictl.doctor.driver import driver
from fictl.doctor.finding import DoctorFinding
from fictl.doctor.gpu_state import answers, clocks, memory_errors, processes
from fictl.doctor.gpus import gpus
from fictl.doctor.probe_steps import LAUNCH, TRACE
from fictl.doctor.profilers import cupti, permission, tools
from fictl.doctor.python_packages import torch
from fictl.errors import UsageError
from fictl.toolchain import Probe

if TYPE_CHECKING:
    from fictl.doctor.facts import Facts

Check: TypeAlias = "Callable[[Facts], Iterator[DoctorFinding]]"

BUILD, TEST, BENCH = PURPOSES = ("build", "test", "bench")

# Each has a part of `fictl doctor` that the others leave alone.
_OF_THE_GPU = (driver, gpus, answers, memory_errors)
_OF_TIMES = (clocks, processes, cupti)
_OF_PROFILES = (permission, tools)
_UNNEEDED = {
    BUILD: (torch, *_OF_THE_GPU, *_OF_TIMES, *_OF_PROFILES),
    TEST: (*_OF_TIMES, *_OF_PROFILES),
    BENCH: _OF_PROFILES,
}
# Steps of the probe that need a GPU.
_STEPS = {BUILD: (LAUNCH, TRACE), TEST: (TRACE,), BENCH: ()}
# Where no GPU runs the tests, the emulated device does, by the C++ compiler alone.
_NOT_EMULATED = ("nvcc", "CUDA toolkit")


def check_purpose(name: str) -> None:
    if name and name not in PURPOSES:
        raise UsageError(f"--for is {name!r}", f"one of {', '.join(PURPOSES)}")


def needed(purpose: str, facts: Facts, checks: Iterable[Check]) -> tuple[Check, ...]:
    """Select the checks that count."""
    left_out = _UNNEEDED.get(purpose, ())
    if _is_emulated(purpose, facts):
        left_out += _OF_THE_GPU
    return tuple(check for check in checks if check not in left_out)


def weighed(purpose: str, facts: Facts, findings: Iterable[DoctorFinding]) -> list[DoctorFinding]:
    """Return the findings that count; a lack of what is needed is an error."""
    left_out: Sequence[str] = _STEPS.get(purpose, ())
    if _is_emulated(purpose, facts):
        left_out = (LAUNCH, TRACE)
    counted = [finding for finding in findings if finding.name not in left_out]
    return [_weighed(purpose, facts, finding) for finding in counted]


def _weighed(purpose: str, facts: Facts, finding: DoctorFinding) -> DoctorFinding:
    if _is_emulated(purpose, facts) and finding.name in _NOT_EMULATED and finding.level == "error":
        return replace(finding, level="warning")
    if purpose == BENCH and finding.name == "GPU" and not facts.gpus.gpus:
        return replace(finding, level="error")
    return finding


def _is_emulated(purpose: str, facts: Facts) -> bool:
    """Return true for tests on a machine that nobody takes for one with a GPU."""
    has_gpu = facts.driver or facts.smi or facts.gpus != Probe() or kernel_module()
    return purpose == TEST and not has_gpu
