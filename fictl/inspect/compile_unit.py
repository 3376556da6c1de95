"""Compiles one translation unit for one architecture as in a build, reads it, and stores it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fictl import settings
from fictl.arch import Arch
from fictl.errors import FictlError, SetupError
from fictl.inspect.compiled import CUBIN, PTX, Compiled, folder_of, publish, write_report
from fictl.inspect.disassembler import disassembly, require
from fictl.inspect.instruction import SassInstruction, parse_sass
from fictl.inspect.kernel import InspectedKernel, facts_of
from fictl.inspect.ptx import PtxEntry, parse_ptx
from fictl.inspect.sources import Roots
from fictl.jit.build import ensure
from fictl.jit.cache.inventory import INSPECTED
from fictl.jit.compile import SourcesChanged, generate, prepare
from fictl.jit.diagnose import diagnose
from fictl.jit.gate.refused import is_refused
from fictl.jit.plan import Plan, Unit
from fictl.jit.recipe import recipe_of
from fictl.jit.store.staging import staging_folder
from fictl.jit.store.stores import writable_store
from fictl.jit.unit_command import cubin_command
from fictl.paths import matching
from fictl.process import stream
from fictl.toolchain import require_toolchain
from fictl.toolchain.ptxas import Remark, Usage, parse_remarks, parse_usage


def compile_unit(plan: Plan, unit: Unit, arch: Arch) -> Compiled:
    """Compile, read and store; an error of nvcc is reported as `fictl build` does."""
    if settings.DISABLE_JIT.get():
        raise SetupError(
            f"{plan.spec.name} was not inspected before, and {settings.DISABLE_JIT.name} forbids "
            "to compile it",
            "unset it",
        )
    require("nvdisasm")
    store = writable_store()
    store.ensure_private(plan.spec.project, plan.spec.name, INSPECTED)
    final = folder_of(plan, unit, arch)
    with staging_folder(store.module_dir(plan.spec.project, plan.spec.name)) as staging:
        prepare(plan, staging)
        generate(plan, staging)
        log = _run_nvcc(plan, unit, arch, staging)
        kept = staging / "kept"
        _keep_files(staging, kept)
        roots = Roots.of(plan.spec, staging)
        kernels = _read(kept, unit, arch, log, roots)
        if recipe_of(plan.spec) != plan.recipe:
            raise SourcesChanged
        write_report(kept, kernels, roots)
        publish(kept, final)
    return Compiled(final, kernels, roots)


def _run_nvcc(plan: Plan, unit: Unit, arch: Arch, folder: Path) -> str:
    """Run nvcc and return its output."""
    command = cubin_command(unit, require_toolchain(), arch, CUBIN)
    done = stream(command, lambda _: None, cwd=folder)
    if done.code:
        # The build fails in the same way, and stores a log and a repro.
        ensure(plan.spec, plan.targets.archs)
        diagnosis = diagnose(done.output)
        raise FictlError(f"{plan.spec.name} cannot be inspected: {diagnosis.first}", diagnosis.hint)
    return done.output


def _keep_files(staging: Path, kept: Path) -> None:
    kept.mkdir()
    os.rename(staging / CUBIN, kept / CUBIN)
    ptx = next(iter(matching(staging, "*.ptx")), None)
    if ptx is None:
        raise FictlError("nvcc --keep has left no PTX", "is --keep-dir in NVCC_APPEND_FLAGS?")
    os.rename(ptx, kept / PTX)
    if os.path.isdir(staging / "src"):
        os.rename(staging / "src", kept / "src")


def _read(
    folder: Path, unit: Unit, arch: Arch, log: str, roots: Roots
) -> tuple[InspectedKernel, ...]:
    used = dict(parse_usage(log))
    if not used:
        return ()  # A unit without kernels has no code for nvdisasm either.
    entries = parse_ptx((folder / PTX).read_text(encoding="utf-8", errors="replace"))
    sass = parse_sass(disassembly(folder / CUBIN), roots.portable)
    remarks = [remark for remark in parse_remarks(log) if is_refused(remark, ())]
    return tuple(
        _kernel(
            name, unit.source.name, arch, used[name], entries.get(name), sass.get(name, ()), remarks
        )
        for name in sorted(used)
    )


def _kernel(
    name: str,
    unit: str,
    arch: Arch,
    used: Usage,
    entry: PtxEntry | None,
    code: tuple[SassInstruction, ...],
    remarks: Sequence[Remark],
) -> InspectedKernel:
    facts: Mapping[str, Any] = facts_of(code)
    # Of an ignored setmaxnreg, ptxas names no kernel.
    ignored = not facts["setmaxnreg"] and entry is not None and "setmaxnreg" in entry.text
    return InspectedKernel(
        mangled=name,
        arch=str(Arch(arch.major, arch.minor, arch.suffix)),
        unit=unit,
        registers=used.registers,
        shared=used.shared,
        local=used.local,
        spill_stores=used.spill_stores,
        spill_loads=used.spill_loads,
        barriers=used.barriers,
        threads=entry.threads if entry else None,
        remarks=tuple(
            f"{remark.code}: {remark.gist}"
            for remark in remarks
            if remark.function == name or (ignored and not remark.function)
        ),
        **facts,
    )
