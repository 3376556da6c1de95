"""The emulated device's runtime as a module like any other: its description, and where it is linked."""

from __future__ import annotations

from pathlib import Path

from fictl.emu.flags import LINES
from fictl.emu.toolchain import HEADERS, ROOT, RUNTIME
from fictl.jit.module_spec import RUNTIME_MODULE, ModuleSpec
from fictl.paths import files_below

RUNTIME_NAME = "libfictl_emu.so"


def runtime_spec() -> ModuleSpec:
    """Describe the runtime, which every emulated module links to.

    Its files are compiled a few together: each of them alone reads the same headers again, which
    is more than half of the time of the whole.
    """
    sources = [p for p in files_below(RUNTIME) if p.name.startswith("unit_") or p.suffix == ".S"]
    return ModuleSpec(
        name=RUNTIME_MODULE,
        sources=tuple(sources),
        extra_cflags=("-O2", *LINES, "-fno-strict-aliasing"),
        extra_ldflags=(f"-Wl,-soname,{RUNTIME_NAME}", "-lpthread"),
        include_dirs=(HEADERS, RUNTIME),
        project="fictl",
        base=ROOT,
        device="emu",
    )


def link_runtime(folder: Path, runtime: Path) -> None:
    """Link the built runtime to where a build in `folder` looks for it."""
    link = folder / RUNTIME_NAME
    link.unlink(missing_ok=True)
    link.symlink_to(runtime)
