"""Probe: a tiny module is compiled, linked, loaded, launched and traced, in a temporary folder."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fictl import settings
from fictl.arch import spell
from fictl.doctor.finding import DoctorFinding, error, ok
from fictl.doctor.probe_module import build_probe
from fictl.doctor.probe_run import loaded
from fictl.doctor.probe_steps import COMPILE, LAUNCH, LINK, LOAD, after, failed, not_run
from fictl.errors import FictlError
from fictl.jit import BuildFailed
from fictl.jit.store.entry import Entry
from fictl.paths import cache_root, matching
from fictl.toolchain import cudart_name

if TYPE_CHECKING:
    from fictl.doctor.facts import Facts


def probes(facts: Facts) -> Iterator[DoctorFinding]:
    """Try each step; one that cannot be tried here is reported, never left out."""
    reason = _why_not(facts)
    if reason:
        yield from (not_run(step, reason) for step in (COMPILE, LINK, LOAD, LAUNCH))
        return
    with tempfile.TemporaryDirectory(prefix="doctor-", dir=_place()) as folder:
        try:
            entry = build_probe(Path(folder))
        except BuildFailed as problem:
            yield from _broken_build(problem)
        except FictlError as problem:
            yield error(COMPILE, problem.message, problem.hint)
            yield from after(COMPILE)
        else:
            yield from _built(entry)
            yield from loaded(entry, facts)


def _why_not(facts: Facts) -> str:
    if settings.DISABLE_JIT.get():
        return f"{settings.DISABLE_JIT.name} is set"
    if facts.nvcc is None:
        return "there is no usable nvcc"
    return "" if facts.cxx else "there is no usable C++ compiler"


def _place() -> Path | None:
    """Folder beside the builds, so that the limits of their file system apply here, too."""
    root = cache_root()
    return root if os.access(root, os.W_OK | os.X_OK) else None


def _built(entry: Entry) -> Iterator[DoctorFinding]:
    manifest, size = entry.manifest, entry.module.stat().st_size >> 10
    tools = [f"{tool}: {identity}" for tool, identity in manifest.toolchain.items()]
    yield ok(COMPILE, f"{manifest.seconds:.1f} s for {spell(entry.archs)}", *tools)
    yield ok(LINK, f"{size} KiB with {cudart_name(manifest.cudart)} and tvm-ffi {manifest.ffi_abi}")


def _broken_build(problem: BuildFailed) -> Iterator[DoctorFinding]:
    reason = problem.message.partition(": ")[2]
    # Not its whole hint, which names a folder that will be gone.
    lines = (line.strip() for line in problem.hint.splitlines())
    hint = " ".join(line for line in lines if not line.startswith(("repeat:", "log:")))
    log = (problem.folder / "build.log").read_text(encoding="utf-8", errors="replace")
    evidence = "\n".join((reason, *log.strip().splitlines()[-12:]))
    compiled = {path.stem for path in matching(problem.folder, "*.o")} >= {"kernel", "binding"}
    if compiled:
        yield ok(COMPILE, "both units")
    step = LINK if compiled else COMPILE
    finding = failed(step, evidence, hint or "set FICTL_NVCC or CXX to another compiler")
    # Memory or disk that ran out is a problem of the environment, not of the probe.
    yield replace(finding, probe=problem.exit_code == 1)
    yield from after(step)
