"""The emulated device's runtime: one module like any other, built once and loaded before the rest."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from fictl.emu.device import EmulatedDevice
from fictl.emu.flags import LINES
from fictl.emu.toolchain import HEADERS, ROOT, RUNTIME
from fictl.jit.compilers import RUNTIME_NAME
from fictl.jit.progress import Observer
from fictl.jit.spec import RUNTIME_MODULE, JitSpec
from fictl.jit.store.entry import Entry
from fictl.paths import matching


def runtime_spec() -> JitSpec:
    sources = sorted([*matching(RUNTIME, "*.cpp"), *matching(RUNTIME, "*.S")])
    return JitSpec(
        name=RUNTIME_MODULE,
        sources=tuple(sources),
        extra_cflags=("-O2", *LINES, "-fno-strict-aliasing"),
        extra_ldflags=(f"-Wl,-soname,{RUNTIME_NAME}", "-lpthread"),
        include_dirs=(HEADERS, RUNTIME),
        project="fictl",
        base=ROOT,
        device="emu",
    )


def build_runtime(observer: Observer | None = None) -> Entry:
    """The store entry, compiled first if need be."""
    from fictl.jit.build import ensure

    return ensure(runtime_spec(), observer=observer).entry


def place_runtime(folder: Path) -> None:
    """Where the link of an emulated module looks for it."""
    link = folder / RUNTIME_NAME
    link.unlink(missing_ok=True)
    link.symlink_to(build_runtime().module)


def emulated_device() -> EmulatedDevice:
    """Of this process, as the settings say; modules of it can be loaded from now on."""
    device = _loaded()
    device.follow_settings()
    return device


@cache
def _loaded() -> EmulatedDevice:
    from fictl.jit.load import library

    return EmulatedDevice(library(build_runtime))
