"""Checks of a folder of prebuilt modules, as the machine that will load them sees it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from fictl.arch import Arch
from fictl.errors import UsageError
from fictl.jit import cuda_runtime
from fictl.jit.cache.integrity import check_store
from fictl.jit.cache.inventory import Item, builds
from fictl.jit.ffi import ffi_abi, ffi_paths
from fictl.jit.module_spec import RUNTIME_MODULE
from fictl.jit.store.entry import Entry
from fictl.jit.store.platform import measured
from fictl.jit.store.stores import STORE_FILE, Store
from fictl.jit.store.this_platform import unfit
from fictl.process import ask
from fictl.toolchain import find_cudart, find_tool

# Run in another process: code that crashes while it is loaded must not crash this one.
_LOAD = (
    "import ctypes, os, sys; [ctypes.CDLL(path, ctypes.RTLD_GLOBAL) for path in sys.argv[1:-1]]; "
    "ctypes.CDLL(sys.argv[-1], os.RTLD_NOW)"
)

_HEADER = re.compile(r"Fatbin (elf|ptx) code:\s*=+\s*arch = sm_(\w+)")
_NO_CODE = "does not contain device code"


@dataclass(frozen=True)
class VerifiedBuild:
    """One build: its problems, and notes on what could not be checked here."""

    project: str
    module: str
    archs: tuple[str, ...]
    size: int
    path: str
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def verify(root: Path) -> list[VerifiedBuild]:
    """Check that every build is complete, of this ABI, holds the code it claims, and loads."""
    root = root.absolute()
    require_store(root)
    broken = {entry.path: entry.problem for entry in check_store(Store(root, prebuilt=True)).broken}
    return [_check(item, broken.get(item.path, "")) for item in builds(root)]


def require_store(root: Path) -> None:
    if not os.path.isfile(root / STORE_FILE):
        raise UsageError(
            f"{root} is not a folder of prebuilt modules: it has no {STORE_FILE}",
            "fictl aot build --out DIR makes one",
        )


def _check(item: Item, broken: str) -> VerifiedBuild:
    if item.newer:
        note = "a newer fictl made it: this one neither uses nor checks it"
        return _unread(item, notes=(note,))
    if broken or item.entry is None:
        return _unread(item, problems=(broken,))
    entry = item.entry
    coded, unread = _code(entry)
    elsewhere = tuple(_platform(entry))
    problems = (*_abi(entry), *_missing(entry, coded), *(elsewhere or _loads(entry)))
    notes = tuple(filter(None, (unread, *_beyond(entry, coded))))
    return VerifiedBuild(
        item.project, item.module, entry.manifest.archs, item.size, str(item.path), problems, notes
    )


def _unread(item: Item, **facts: tuple[str, ...]) -> VerifiedBuild:
    return VerifiedBuild(item.project, item.module, (), item.size, str(item.path), **facts)


def _abi(entry: Entry) -> Iterator[str]:
    if entry.manifest.ffi_abi != ffi_abi():
        yield f"it speaks the ABI of tvm-ffi {entry.manifest.ffi_abi}, here is {ffi_abi()}"


def _platform(entry: Entry) -> Iterator[str]:
    """Problems with the platform: this machine's is another, or has no runtime of its CUDA, or the
    file needs another than said.
    """
    if reason := unfit(entry.manifest.platform):
        yield reason
    if entry.manifest.device == "cuda":
        yield from filter(None, [cuda_runtime.lacking(entry.manifest.cudart, entry.module)])
    needs = str(measured(entry.module) or "")
    if entry.manifest.platform and needs != entry.manifest.platform:
        yield f"its manifest is for {entry.manifest.platform}, its file for {needs or 'none'}"


def _code(entry: Entry) -> tuple[set[str] | None, str]:
    """Architectures of the code in the file, by cuobjdump, and a note where they are unknown.

    The headers are read, not the lists, which call the cubin of a family, sm_100f, sm_100.
    """
    tool = find_tool("cuobjdump")
    if tool is None:
        return None, "which architectures it holds was not read: there is no cuobjdump here"
    output = ask([tool, entry.module]).output
    headers = _HEADER.findall(output)
    if not headers and _NO_CODE not in output:
        return None, f"which architectures it holds was not read: cuobjdump says {output.strip()!r}"
    return {_spell(Arch.parse(number), kind == "ptx") for kind, number in headers}, ""


def _claimed(archs: Iterable[Arch]) -> set[str]:
    forward = {_spell(arch, ptx=True) for arch in archs if arch.ptx}
    return {_spell(arch, ptx=False) for arch in archs} | forward


def _spell(arch: Arch, ptx: bool) -> str:
    return f"{'PTX of ' * ptx}{replace(arch, ptx=False)}"


def _missing(entry: Entry, coded: set[str] | None) -> Iterator[str]:
    # A module without a kernel holds no device code, whatever it was built for.
    if coded and (missing := _claimed(entry.archs) - coded):
        yield (
            f"it holds no code for {_list(missing)}, which its manifest claims, "
            f"but for {_list(coded)}"
        )


def _beyond(entry: Entry, coded: set[str] | None) -> Iterator[str]:
    """Code beyond what the manifest claims: it does no harm, and is worth a note."""
    if coded and (more := coded - _claimed(entry.archs)):
        module = entry.manifest.module
        yield f"{module} holds code for {_list(more)}, too, which its manifest does not claim"


def _list(parts: Iterable[str]) -> str:
    return ", ".join(sorted(parts))


def _loads(entry: Entry) -> Iterator[str]:
    before = (ffi_paths().library, *_runtimes(entry))
    loaded = ask([sys.executable, "-c", _LOAD, *before, entry.module])
    if loaded.code:
        reason = loaded.output.strip().rpartition("\n")[2] or f"exit code {loaded.code}"
        yield f"it does not load: {reason}"


def _runtimes(entry: Entry) -> Iterator[Path]:
    """Yield CUDA's runtime, or the emulated device's in the same store: what a module links to."""
    if entry.manifest.device == "cuda" and (cudart := find_cudart(entry.manifest.cudart)):
        yield cudart
    module_dir = entry.path.parents[1]
    name = ("fictl", RUNTIME_MODULE)
    if entry.manifest.device == "emu" and (entry.manifest.project, entry.manifest.module) != name:
        runtimes = Store(module_dir.parents[2]).entries(*name)
        yield from (runtime.module for runtime in runtimes[:1])
