"""twice: a number, doubled."""

from __future__ import annotations

from fictl.op import KernelModule, op

from .jit import module

kernel = KernelModule(module)


@op(archs=">=8.0", dtypes="i32", devices="cuda emu", mutates="")
def twice(input: int) -> int:
    """input * 2."""
    return int(kernel.twice(input))
