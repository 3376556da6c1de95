"""Checking a folder of prebuilt modules as the machine that will load them would."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fictl.errors import UsageError
from fictl.jit.cache.integrity import examine
from fictl.jit.cache.inventory import Item, builds
from fictl.jit.ffi import ffi_abi, ffi_paths
from fictl.jit.store.entry import Entry
from fictl.jit.store.stores import STORE_FILE, Store
from fictl.process import ask
from fictl.toolchain import find_tool

# In a process of its own: code that crashes while it is loaded must not take this one with it.
_LOAD = (
    "import ctypes, os, sys; ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL); "
    "ctypes.CDLL(sys.argv[2], os.RTLD_NOW)"
)


@dataclass(frozen=True)
class Checked:
    """One build: what is wrong with it, and what could not be looked at here."""

    project: str
    module: str
    archs: tuple[str, ...]
    size: int
    path: str
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def verify(root: Path) -> list[Checked]:
    """Every build: whole, of this ABI, with the code it claims, loadable."""
    root = root.absolute()
    if not os.path.isfile(root / STORE_FILE):
        raise UsageError(
            f"{root} is no folder of prebuilt modules: it has no {STORE_FILE}",
            "fictl aot build --out DIR makes one",
        )
    broken = {each.path: each.problem for each in examine(Store(root, prebuilt=True)).broken}
    return [_check(item, broken.get(item.path, "")) for item in builds(root)]


def _check(item: Item, broken: str) -> Checked:
    if broken or item.entry is None:
        return Checked(item.project, item.module, (), item.size, str(item.path), (broken,))
    entry = item.entry
    coded, note = _code(entry)
    problems = (*_abi(entry), *_archs(entry, coded), *_loads(entry))
    return Checked(
        item.project, item.module, entry.manifest.archs, item.size, str(item.path),
        problems, (note,) if note else (),
    )  # fmt: skip


def _abi(entry: Entry) -> Iterator[str]:
    if entry.manifest.ffi_abi != ffi_abi():
        yield f"it speaks the ABI of tvm-ffi {entry.manifest.ffi_abi}, here is {ffi_abi()}"


def _code(entry: Entry) -> tuple[set[str] | None, str]:
    """The architectures in the file itself, as cuobjdump reads them."""
    tool = find_tool("cuobjdump")
    if tool is None:
        return None, "which architectures it holds was not read: there is no cuobjdump here"
    said = ask([tool, "--list-elf", "--list-ptx", entry.module])
    return set(re.findall(r"sm_(\d+[af]?)\.", said.output)), ""


def _archs(entry: Entry, coded: set[str] | None) -> Iterator[str]:
    missing = [str(a) for a in entry.archs if coded is not None and a.number not in coded]
    # A module without a kernel holds no device code, whatever it was built for.
    if coded and missing:
        has = " ".join(sorted(coded))
        yield f"it holds no code for {' '.join(missing)}, which its manifest claims, but for {has}"


def _loads(entry: Entry) -> Iterator[str]:
    loaded = ask([sys.executable, "-c", _LOAD, ffi_paths().library, entry.module])
    if loaded.code:
        reason = loaded.output.strip().rpartition("\n")[2] or f"exit code {loaded.code}"
        yield f"it does not load: {reason}"
