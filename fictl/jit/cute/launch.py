"""The host function around a kernel that CuTe DSL wants to see; only the kernel's code is kept."""

# mypy: ignore-errors
# Why: the library reads the source of this function, and compiles it.

import cutlass
from cutlass import cute


@cute.jit
def launch(
    kernel: cutlass.Constexpr,
    arguments: tuple,
    constants: cutlass.Constexpr,
    threads: cutlass.Constexpr,
    shared_bytes: cutlass.Constexpr,
) -> None:
    kernel(*arguments, **constants).launch(grid=(1, 1, 1), block=(threads, 1, 1), smem=shared_bytes)
