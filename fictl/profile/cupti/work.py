"""Work that ran on the GPU while it was recorded, and the calls of the host that launched it."""

from __future__ import annotations

from dataclasses import dataclass

from fictl.timing.activity import Activity

# What belongs to no call that was counted.
BETWEEN = -1


@dataclass(frozen=True)
class Work(Activity):
    """`correlation` is shared with the API call that launched it; of a graph's, by all its nodes."""

    correlation: int
    device: int
    stream: int
    graph: int

    @property
    def seconds(self) -> float:
        return (self.end - self.start) / 1e9


@dataclass(frozen=True)
class Kernel(Work):
    """Registers are of a thread, shared memory is of a block, in bytes.

    Local memory is not here: CUPTI says 0 of kernels that spill.
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
    """Between memories, as its name says; or a fill."""

    bytes: int

    @property
    def gbps(self) -> float:
        """Bytes copied, which on one GPU are read and written both."""
        return self.bytes / (self.end - self.start) if self.end > self.start else 0.0


@dataclass(frozen=True)
class ApiCall(Activity):
    """Call of the CUDA runtime or driver by a thread of this process."""

    correlation: int
    thread: int

    @property
    def seconds(self) -> float:
        return (self.end - self.start) / 1e9
