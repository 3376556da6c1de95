"""Commit of a finished build: keep the files that readers need, and write the manifest last."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path

from fictl.emu import places
from fictl.jit.emulated_runtime import RUNTIME_NAME
from fictl.jit.ninja_file import ninja_text
from fictl.jit.plan import Plan
from fictl.jit.store.entry import MANIFEST, MODULE, FileStamp, Manifest
from fictl.jit.store.platform import measured


def commit(
    plan: Plan, staging: Path, seconds: float, units: dict[str, float], peak_kib: int
) -> None:
    """Remove files that no reader needs, then write the manifest as the last file."""
    from fictl.version import VERSION

    for leftover in (
        ".ninja_log",
        ".ninja_deps",
        RUNTIME_NAME,
        *(name for unit in plan.steps for name in (unit.object, unit.log)),
    ):
        (staging / leftover).unlink(missing_ok=True)
    if plan.recipe.device == "emu" and plan.places:
        places.write(staging, [(place.name, place.folder) for place in plan.places])
    (staging / "build.ninja").write_text(ninja_text(plan), encoding="utf-8")
    flags = asdict(plan.recipe.flags)
    manifest = Manifest(
        project=plan.spec.project,
        module=plan.spec.name,
        recipe=plan.recipe.key,
        build=plan.build_key,
        device=plan.recipe.device,
        variant=flags.pop("variant"),
        archs=tuple(str(arch) for arch in plan.targets.archs),
        toolchain=plan.identity,
        ffi_abi=plan.ffi_abi,
        cudart=plan.cudart,
        inputs=plan.recipe.inputs,
        flags=flags,
        parameters=plan.recipe.parameters,
        files={MODULE: FileStamp.of(staging / MODULE)},
        fictl=VERSION,
        created=time.time(),
        seconds=round(seconds, 3),
        peak_kib=peak_kib,
        units=units,
        platform=str(measured(staging / MODULE) or ""),
    )
    (staging / MANIFEST).write_text(manifest.to_json(), encoding="utf-8")
