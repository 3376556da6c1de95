"""What is kept of a translation unit that was compiled for one architecture and read."""

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
from fictl.inspect.instruction import Instruction, parse_sass
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
_SCHEMA = "fictl.inspected/2"


@dataclass(frozen=True)
class Compiled:
    """What is kept of a unit: `folder` has its cubin, its PTX and what was rendered for it."""

    folder: Path
    kernels: tuple[InspectedKernel, ...]
    roots: Roots

    def sass(self) -> dict[str, tuple[Instruction, ...]]:
        return self._sass

    def peaks(self) -> dict[str, Peak]:
        return self._peaks

    def portable(self, path: str) -> str:
        return self.roots.portable(path)

    def ptx(self) -> str:
        return (self.folder / PTX).read_text(encoding="utf-8", errors="replace")

    @cached_property
    def _sass(self) -> dict[str, tuple[Instruction, ...]]:
        return parse_sass(disassembly(self.folder / CUBIN), self.portable)

    @cached_property
    def _peaks(self) -> dict[str, Peak]:
        return peaks(live_registers(self.folder / CUBIN), self._sass)


def folder_of(plan: Plan, unit: Unit, arch: Arch) -> Path:
    """Where it is kept: by what the unit's object depends on."""
    parent = writable_store().module_dir(plan.spec.project, plan.spec.name) / INSPECTED
    return parent / digest([_SCHEMA, unit.key, str(arch)])


def find(folder: Path) -> Compiled | None:
    """From an earlier time, unless anything of it was changed since: then it goes, and is said."""
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
        os.utime(folder)  # Its last use, for whoever makes room.
    return Compiled(folder, kernels, roots)


def write_report(folder: Path, kernels: Sequence[InspectedKernel], roots: Roots) -> None:
    content = {"kernels": [kernel.to_json() for kernel in kernels], "roots": roots.to_json()}
    kept_folder.write(folder, content)


def publish(kept: Path, final: Path) -> None:
    """Rename into place; whoever comes second has the same, unless the first is broken."""
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
