"""fictl doctor: checks of what this machine can do, with reasons and fixes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fictl.doctor import (
    cache_folder,
    compilers,
    driver,
    environment,
    gpu_state,
    gpus,
    keys,
    launchers,
    machine,
    pairs,
    probes,
    profilers,
    python_packages,
    remote,
    targets,
    wheels,
)
from fictl.doctor.facts import Facts, broken, gather
from fictl.doctor.finding import DoctorFinding, error, exit_code, tally, warning
from fictl.doctor.parallel import at_once
from fictl.doctor.purpose import Check, check_purpose, needed, weighed
from fictl.errors import FictlError
from fictl.redact import hide_secrets

__all__ = ["DoctorFinding", "Facts", "examine", "exit_code", "tally"]

CHECKS: tuple[Check, ...] = (
    environment.settings_in_force,
    python_packages.python,
    python_packages.torch,
    python_packages.ninja,
    python_packages.tvm_ffi,
    driver.driver,
    gpus.gpus,
    gpu_state.answers,
    gpu_state.clocks,
    gpu_state.memory_errors,
    gpu_state.processes,
    compilers.nvcc,
    compilers.toolkit,
    compilers.host_compiler,
    targets.targets,
    launchers.launchers,
    cache_folder.cache_folder,
    cache_folder.temporary_folder,
    cache_folder.stores,
    wheels.wheels,
    remote.remote,
    remote.clock,
    remote.proxy,
    keys.trusted,
    keys.signing,
    machine.memory,
    environment.flags,
    environment.behind_the_key,
    environment.stubs,
    profilers.cupti,
    profilers.permission,
    profilers.tools,
    probes.probes,
)

_SECONDS = 180.0


def examine(
    checks: tuple[Check, ...] = CHECKS, purpose: str = "", *, gpus: bool = False
) -> list[DoctorFinding]:
    """Run all checks in parallel and return their findings in order; none can break another.

    With a purpose, `build`, `test` or `bench`, only those that count for it. With `gpus`, every
    pair of GPUs, too.
    """
    check_purpose(purpose)
    checks += (pairs.pairs,) * gpus
    facts, findings = gather()
    findings = weighed(purpose, facts, findings + run(needed(purpose, facts, checks), facts))
    return [_shown(finding) for finding in findings]


def _shown(finding: DoctorFinding) -> DoctorFinding:
    return replace(finding, text=hide_secrets(finding.text), fix=hide_secrets(finding.fix))


def run(checks: tuple[Check, ...], facts: Facts) -> list[DoctorFinding]:
    def job(check: Check) -> Callable[[], list[DoctorFinding]]:
        return lambda: list(check(facts))

    names = [check.__name__.replace("_", " ") for check in checks]
    jobs = {name: job(check) for name, check in zip(names, checks, strict=True)}
    findings: list[DoctorFinding] = []
    for name, result in at_once(jobs, _SECONDS).items():
        if isinstance(result, FictlError):
            findings.append(_stopped(name, result, findings))
        else:
            findings += [broken(name, result)] if isinstance(result, Exception) else result
    return findings


def _stopped(name: str, why: FictlError, findings: list[DoctorFinding]) -> DoctorFinding:
    """Finding of a check that a bad setting stopped; the setting itself is reported once."""
    if any(finding.text.startswith(why.message) for finding in findings):
        return warning(name, f"not run: {why.message}", "mend that, then `fictl doctor` again")
    return error(name, why.message, why.hint)
