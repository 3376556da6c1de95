"""Stored result of compiling one translation unit for one architecture and reading it."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fictl import private_folder, rooted
from fictl.arch import Arch
from fictl.inspect.disassembler import disassembly, live_registers
from fictl.inspect.instruction import SassInstruction, parse_sass
from fictl.inspect.kernel import InspectedKernel
from fictl.inspect.pressure import Peak, peaks
from fictl.inspect.sources import Roots
from fictl.jit.cache.inventory import INSPECTED
from fictl.jit.plan import Plan, Unit
from fictl.jit.recipe import digest
from fictl.jit.store import kept as kept_folder
from fictl.jit.store.entry import Corrupt
from fictl.jit.store.stores import writable_store
from fictl.log import logger

CUBIN = "unit.cubin"
PTX = "unit.ptx"
_SCHEMA = "fictl.inspected/3"


@dataclass(frozen=True)
class Compiled:
    """A stored unit; `folder` has its cubin, its PTX and the sources rendered for it."""

    folder: Path
    kernels: tuple[InspectedKernel, ...]
    roots: Roots

    def sass(self) -> dict[str, tuple[SassInstruction, ...]]:
        return self._sass

    def peaks(self) -> dict[str, Peak]:
        return self._peaks

    def portable(self, path: str) -> str:
        return self.roots.portable(path)

    def ptx(self) -> str:
        return (self.folder / PTX).read_text(encoding="utf-8", errors="replace")

    @cached_property
    def _sass(self) -> dict[str, tuple[SassInstruction, ...]]:
        return parse_sass(disassembly(self.folder / CUBIN), self.portable)

    @cached_property
    def _peaks(self) -> dict[str, Peak]:
        return peaks(live_registers(self.folder / CUBIN), self._sass)


def folder_of(plan: Plan, unit: Unit, arch: Arch) -> Path:
    """Folder of a stored unit, by a digest of all that its object depends on."""
    parent = writable_store().module_dir(plan.spec.project, plan.spec.name) / INSPECTED
    return parent / digest([_SCHEMA, unit.key, str(arch)])


def find(folder: Path) -> Compiled | None:
    """Read a stored unit; None if it does not exist. A damaged one is removed, with a warning."""
    if not os.path.lexists(folder):
        return None
    try:
        private_folder.check(folder.parents[1], folder.parent.name, folder.name)
        data = kept_folder.read(folder)
        kernels = tuple(map(InspectedKernel.from_json, data["kernels"]))
        roots = Roots.from_json(data["roots"])
    except (Corrupt, ValueError, KeyError, TypeError) as error:
        logger().warning("corrupt record %s (%s): to be made again", folder, error)
        with suppress(OSError):
            rooted.remove(folder.parents[1], folder)
        return None
    with suppress(OSError):
        os.utime(folder)  # Its last use, for the garbage collection.
    return Compiled(folder, kernels, roots)


def write_report(folder: Path, kernels: Sequence[InspectedKernel], roots: Roots) -> None:
    content = {"kernels": [kernel.to_json() for kernel in kernels], "roots": roots.to_json()}
    kept_folder.write(folder, content)


def publish(kept: Path, final: Path) -> None:
    """Rename into place; another process's result is adopted unless it is damaged."""
    private_folder.make_within(final.parent)
    for _ in range(2):
        try:
            os.rename(kept, final)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        if find(final):
            return
        with suppress(OSError):
            rooted.remove(final.parents[1], final)
