"""The error of a build that the gate refuses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from fictl.jit.diagnose import Diagnosis
from fictl.jit.gate.findings import Finding
from fictl.jit.gate.located import located
from fictl.jit.plan import Plan, Unit

_SHOWN = 8


def diagnosis(plan: Plan, refused: Mapping[Unit, tuple[Finding, ...]], folder: Path) -> Diagnosis:
    """Say which kernels are refused, at which lines, why, and how to change or to allow that."""
    lines = [line for unit, some in refused.items() for line in located(plan, unit, some, folder)]
    first = lines[0] if len(lines) == 1 else _listed(lines)
    every = [finding for some in refused.values() for finding in some]
    hints = list(dict.fromkeys(finding.hint for finding in every if finding.hint))
    codes = tuple(dict.fromkeys(finding.code for finding in every if finding.code))
    if codes:
        hints.append(f"to build it as it is: allowed_remarks={codes} of module_spec, in jit.py")
    return Diagnosis(first, "\n  ".join(hints))


def _listed(lines: Sequence[str]) -> str:
    more = [f"and {len(lines) - _SHOWN} more, in the log"] if len(lines) > _SHOWN else []
    return "\n  ".join([f"ptxas reports {len(lines)} defects:", *lines[:_SHOWN], *more])
