"""Work that ran on the GPU during the recording, and the host's calls that launched it."""

from __future__ import annotations

from dataclasses import dataclass

from fictl.timing.activity import Activity

# Number for work that belongs to none of the counted calls.
BETWEEN = -1


@dataclass(frozen=True)
class Work(Activity):
    """Work on the GPU. `correlation` is shared with the API call that launched it, and by all nodes
    of a graph.
    """

    correlation: int
    device: int
    stream: int
    graph: int

    @property
    def seconds(self) -> float:
        return (self.end - self.start) / 1e9


@dataclass(frozen=True)
class Kernel(Work):
    """A launch. Registers are per thread, shared memory per block in bytes.

    Local memory is left out: CUPTI reports 0 for kernels that spill.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    registers: int
    static_shared: int
    dynamic_shared: int

    @property
    def shared(self) -> int:
        return self.static_shared + self.dynamic_shared

    @property
    def threads(self) -> int:
        x, y, z = self.block
        return x * y * z

    @property
    def blocks(self) -> int:
        x, y, z = self.grid
        return x * y * z


@dataclass(frozen=True)
class Copy(Work):
    """A copy between the memories in its name, or a fill."""

    bytes: int

    @property
    def gbps(self) -> float:
        """Rate of copied bytes; a copy within one GPU reads and writes each of them."""
        return self.bytes / (self.end - self.start) if self.end > self.start else 0.0


@dataclass(frozen=True)
class EmulatedCall(Work):
    """A call on the emulated device, whose kernels have ended when it returns."""


@dataclass(frozen=True)
class ApiCall(Activity):
    """Call of the CUDA runtime or driver by a thread of this process."""

    correlation: int
    thread: int

    @property
    def seconds(self) -> float:
        return (self.end - self.start) / 1e9
