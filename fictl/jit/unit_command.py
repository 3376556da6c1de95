"""A unit's compile command taken apart, for those that run or show it in another form."""

from __future__ import annotations

from fictl.jit.plan import Unit
from fictl.toolchain import Toolchain


def compiler_and_flags(unit: Unit, toolchain: Toolchain) -> tuple[str, ...]:
    """Without a launcher before the compiler, the source and the object."""
    compiler = str(toolchain.nvcc.path) if unit.device else toolchain.cxx.ccbin
    return unit.argv[unit.argv.index(compiler) : unit.argv.index("-c")]
