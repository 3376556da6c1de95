"""Result for one module or one file: its kernels, and access to their code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from fictl.errors import FictlError
from fictl.inspect.instruction import SassInstruction
from fictl.inspect.kernel import InspectedKernel
from fictl.inspect.metrics import LaunchSize, assumed_block, occupancy_of, values
from fictl.inspect.pressure import Peak
from fictl.inspect.sources import KernelSources

Code = tuple[SassInstruction, ...]


class InspectedUnit(Protocol):
    """Source of kernels and of their code: a compiled unit, or a cubin."""

    @property
    def kernels(self) -> tuple[InspectedKernel, ...]: ...

    def sass(self) -> Mapping[str, Code]: ...

    def ptx(self) -> str: ...

    def peaks(self) -> Mapping[str, Peak]: ...

    def portable(self, path: str) -> str:
        """Name of a file that is the same in any checkout."""


@dataclass(frozen=True)
class Inspected:
    """Kernels of one module; `note` explains what is missing, `error` why there is nothing."""

    module: str
    archs: tuple[str, ...] = ()
    origin: str = ""
    units: tuple[InspectedUnit, ...] = ()
    sources: KernelSources | None = None
    note: str = ""
    warning: str = ""
    error: FictlError | None = None
    kernels: tuple[InspectedKernel, ...] = field(default=())

    def only(self, kernels: tuple[InspectedKernel, ...]) -> Inspected:
        return replace(self, kernels=kernels)

    def peak(self, kernel: InspectedKernel) -> Peak | None:
        """Instruction with the most live registers; runs the disassembler."""
        unit = next((one for one in self.units if kernel in one.kernels), None)
        return unit.peaks().get(kernel.mangled) if unit else None

    def to_dict(self, launch: LaunchSize) -> dict[str, Any]:
        error = self.error and self.error.to_dict()
        return {
            "module": self.module,
            "archs": list(self.archs),
            "origin": self.origin,
            "note": self.note,
            "warning": self.warning,
            "error": error,
            "kernels": [self._kernel(kernel, launch) for kernel in self.kernels],
        }

    def _kernel(self, kernel: InspectedKernel, launch: LaunchSize) -> dict[str, Any]:
        occupancy, block = occupancy_of(kernel, launch), assumed_block(kernel, launch)
        shown = self.sources.shown(kernel.place) if self.sources and kernel.place else None
        return {
            "kernel": kernel.name,
            "mangled": kernel.mangled,
            "arch": kernel.arch,
            "unit": kernel.unit,
            "place": shown,
            "threads": block.threads if block else None,
            "threads_from": block.origin if block else None,
            **values(kernel, launch),
            "limited_by": list(occupancy.limits) if occupancy else None,
            "setmaxnreg": list(kernel.setmaxnreg),
            "mix": kernel.mix,
            "opcodes": {name: one.count for name, one in kernel.opcodes.items()},
        }
