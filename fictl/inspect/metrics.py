"""Metrics of a kernel, for tables and gates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fictl.inspect.kernel import InspectedKernel
from fictl.inspect.limits import limits_of
from fictl.inspect.mnemonics import PIPES
from fictl.toolchain.occupancy import Occupancy, occupancy

_LOCAL = ("LDL", "STL")


@dataclass(frozen=True)
class LaunchSize:
    """Launch of a kernel: threads a block, and dynamic shared memory in bytes."""

    threads: int | None = None
    dynamic_shared: int = 0


@dataclass(frozen=True)
class Metric:
    """A number of a kernel.

    culprits: instructions that cause it. of_registers: its cause is where most registers are live.
    like: the metric that it equals for most kernels.
    """

    doc: str
    read: Callable[[InspectedKernel, LaunchSize], float | None]
    culprits: tuple[str, ...] = ()
    of_registers: bool = False
    like: str = ""


@dataclass(frozen=True)
class AssumedBlock:
    """The threads of a block that occupancy assumes, and what says so."""

    threads: int
    origin: str


GIVEN, LAUNCHER, BOUNDS = "--threads", "launcher", "launch bounds"


def assumed_block(kernel: InspectedKernel, launch: LaunchSize) -> AssumedBlock | None:
    """Return the block size: the given one, else the launcher's, else the most that the launch
    bounds allow; None if none is known.
    """
    if launch.threads:
        return AssumedBlock(launch.threads, GIVEN)
    if kernel.launched and kernel.launched <= (kernel.threads or kernel.launched):
        return AssumedBlock(kernel.launched, LAUNCHER)
    return AssumedBlock(kernel.threads, BOUNDS) if kernel.threads else None


def occupancy_of(kernel: InspectedKernel, launch: LaunchSize) -> Occupancy | None:
    """Occupancy at the assumed block size; None if it is not known."""
    limits, block = limits_of(kernel.target), assumed_block(kernel, launch)
    if limits is None or block is None:
        return None
    shared = kernel.shared + launch.dynamic_shared
    return occupancy(limits, block.threads, kernel.registers, shared, kernel.barriers or 0)


def _share(kernel: InspectedKernel, launch: LaunchSize) -> float | None:
    result = occupancy_of(kernel, launch)
    return round(100 * result.share, 1) if result else None


def _blocks(kernel: InspectedKernel, launch: LaunchSize) -> float | None:
    result = occupancy_of(kernel, launch)
    return result.blocks if result else None


METRICS = {
    "registers": Metric("registers a thread", lambda k, _: k.registers, of_registers=True),
    "registers_least": Metric(
        "registers a thread after setmaxnreg: the fewest of a warpgroup; without one, registers",
        lambda k, _: min(k.setmaxnreg, default=k.registers),
        ("USETMAXREG.DEALLOC",),
        like="registers",
    ),
    "registers_most": Metric(
        "registers a thread after setmaxnreg: the most of a warpgroup; without one, registers",
        lambda k, _: max(k.setmaxnreg, default=k.registers),
        ("USETMAXREG.TRY_ALLOC",),
        like="registers",
    ),
    "spill_bytes": Metric("spill stores and loads", lambda k, _: k.spill_bytes, _LOCAL),
    "spill_stores": Metric("bytes stored to spill", lambda k, _: k.spill_stores, _LOCAL),
    "spill_loads": Metric("bytes loaded that had spilled", lambda k, _: k.spill_loads, _LOCAL),
    "local_bytes": Metric(
        "local memory of a thread: its stack, arrays and spills", lambda k, _: k.local, _LOCAL
    ),
    "static_shared": Metric("bytes of shared memory a block", lambda k, _: k.shared),
    "barriers": Metric("named barriers a block", lambda k, _: k.barriers),
    "occupancy": Metric("percent of the warps that an SM can hold", _share),
    "blocks_per_sm": Metric("blocks that an SM holds at once", _blocks),
    "instructions": Metric("SASS instructions", lambda k, _: k.instructions),
    "tensor_instructions": Metric(
        "instructions of the tensor cores", lambda k, _: k.pipe("tensor"), PIPES["tensor"]
    ),
    "tma_instructions": Metric(
        "bulk and tensor copies by the TMA", lambda k, _: k.pipe("TMA"), PIPES["TMA"]
    ),
    "remarks": Metric(
        "remarks of ptxas that fail a build: serialised wgmma, ignored setmaxnreg",
        lambda k, _: None if k.remarks is None else len(k.remarks),
        PIPES["tensor"],
    ),
}


def values(kernel: InspectedKernel, launch: LaunchSize) -> dict[str, float | None]:
    return {name: metric.read(kernel, launch) for name, metric in METRICS.items()}
