"""Findings with the lines of the source: the unit is compiled again, with line information."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from fictl.arch import Arch
from fictl.jit.gate.findings import Finding, findings
from fictl.jit.gate.ptx_places import PtxPlaces
from fictl.jit.plan import Plan, Unit
from fictl.jit.unit_command import cubin_command
from fictl.paths import friendly, matching
from fictl.process import stream
from fictl.toolchain import require_toolchain
from fictl.toolchain.kernel_name import readable

# Where a call is inlined deeper, the places between are left out.
_MOST_PLACES = 3


def located(plan: Plan, unit: Unit, refused: Sequence[Finding], folder: Path) -> list[str]:
    """Describe the findings of a unit, once each, with places if a second compile shows them."""
    lines = [
        _described(finding, _place(finding, ptx, folder))
        for arch in _archs(plan, refused)
        for ptx, again in _compiled_again(plan, unit, arch, folder)
        for finding in again
    ]
    return list(dict.fromkeys(lines)) or [_described(finding, "") for finding in refused]


def _archs(plan: Plan, refused: Sequence[Finding]) -> list[Arch]:
    """Architectures to look at: those that spill, and for remarks those with wgmma."""
    spilling = {finding.target for finding in refused}
    remarks = any(finding.code for finding in refused)
    return [
        arch
        for arch in plan.targets.archs
        if arch.number in spilling or (remarks and arch.major >= 9)
    ]


def _compiled_again(
    plan: Plan, unit: Unit, arch: Arch, folder: Path
) -> Iterator[tuple[PtxPlaces, tuple[Finding, ...]]]:
    with TemporaryDirectory(prefix="located-", dir=folder) as name:
        kept = Path(name)
        command = cubin_command(unit, require_toolchain(), arch, f"{kept.name}/unit.cubin")
        done = stream([*command, f"--keep-dir={kept.name}"], lambda _: None, cwd=folder)
        path = next(iter(matching(kept, "*.ptx")), None)
        if done.code == 0 and path:
            ptx = PtxPlaces(path.read_text(encoding="utf-8", errors="replace"))
            yield ptx, tuple(_named(ptx, findings(plan.spec, done.output)))


def _named(ptx: PtxPlaces, refused: Sequence[Finding]) -> Iterator[Finding]:
    """Name the kernels of a remark that has no name: those whose registers ptxas does not know."""
    for finding in refused:
        unknown = [one for one in ptx.functions.values() if one.lacks_register_count]
        if finding.function or not unknown:
            yield finding
        else:
            yield from (
                replace(finding, function=one.name, line=one.line_of("setmaxnreg"))
                for one in unknown
            )


def _place(finding: Finding, ptx: PtxPlaces, folder: Path) -> str:
    function = ptx.functions.get(finding.function)
    line = finding.line
    if not line and finding.code and function:
        line = function.line_of("wgmma.mma_async")
    chain = ptx.at(line) if line else ptx.start_of(finding.function)
    if len(chain) > _MOST_PLACES:
        chain = (*chain[: _MOST_PLACES - 1], chain[-1])
    inner, *callers = [f"{_spelt(path, folder)}:{at}" for path, at in chain] or [""]
    return f"{inner} (inlined at {', '.join(callers)})" if callers else inner


def _described(finding: Finding, place: str) -> str:
    name = readable(finding.function) if finding.function else "a kernel"
    return f"{f'{place}: ' if place else ''}{name}: {finding.text}"


def _spelt(path: str, folder: Path) -> str:
    """Spell a path from the working directory; a rendered file from the build's folder."""
    for root in (os.getcwd(), str(folder)):
        if path.startswith(f"{root}{os.sep}"):
            return path[len(root) + 1 :]
    return friendly(path)
