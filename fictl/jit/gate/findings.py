"""Findings: what the gate refuses in ptxas's output of a unit."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fictl.arch import Arch
from fictl.jit.gate.refused import cure, is_lesser, is_refused
from fictl.jit.module_spec import ModuleSpec
from fictl.jit.plan import Plan, Unit
from fictl.toolchain.ptxas import parse_remarks, parse_usage

_GATED = ("release", "lineinfo")


@dataclass(frozen=True)
class Finding:
    """One refused fact about a function, '' if ptxas does not name it. `line` is one of the PTX.

    `target` is the architecture of a spill; `code` is the number of a remark.
    """

    function: str
    text: str
    hint: str
    line: int = 0
    target: str = ""
    code: str = ""


def refusals(plan: Plan, folder: Path) -> dict[Unit, tuple[Finding, ...]]:
    """Return what the gate refuses in the build's units, by unit; {} for a variant without gate.

    Why not for all variants: -G serialises every wgmma, and recorded events take registers.
    """
    if plan.recipe.device != "cuda" or plan.recipe.flags.variant not in _GATED:
        return {}
    logs = {unit: folder / unit.log for unit in plan.units if unit.device}
    refused = {
        unit: findings(plan.spec, log.read_text(encoding="utf-8", errors="replace"))
        for unit, log in logs.items()
        if os.path.isfile(log)
    }
    return {unit: some for unit, some in refused.items() if some}


def findings(spec: ModuleSpec, log: str) -> tuple[Finding, ...]:
    return (*_remarks(spec, log), *_spills(spec, log))


def _remarks(spec: ModuleSpec, log: str) -> Iterator[Finding]:
    for remark in sorted(parse_remarks(log), key=is_lesser):
        if is_refused(remark, spec.allowed_remarks):
            text = f"ptxas {remark.code}: {remark.gist}"
            yield Finding(remark.function, text, cure(remark), remark.line, code=remark.code)


def _spills(spec: ModuleSpec, log: str) -> Iterator[Finding]:
    limit = spec.max_spill_bytes
    if limit is None:
        return
    for kernel, used in parse_usage(log):
        if used.spill_bytes > limit:
            arch = Arch.parse(used.target) if used.target else "this architecture"
            text = (
                f"{used.spill_stores} bytes of spill stores and {used.spill_loads} of spill loads, "
                f"with {used.registers} registers for {arch}; max_spill_bytes={limit}"
            )
            yield Finding(kernel, text, _OF_SPILLS, target=used.target)


_OF_SPILLS = (
    "fewer live values: a smaller tile, fewer threads in __launch_bounds__; fictl inspect --gate "
    "'spill_bytes==0' names the line"
)
