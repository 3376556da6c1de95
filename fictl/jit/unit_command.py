"""Parts of a unit's compile command, for tools that run or show it in another form."""

from __future__ import annotations

from fictl.jit.plan import Unit
from fictl.toolchain import Toolchain


def compiler_and_flags(unit: Unit, toolchain: Toolchain) -> tuple[str, ...]:
    """Return a unit's command from the compiler on, without launcher, source and object."""
    compiler = str(toolchain.nvcc.path) if unit.device else toolchain.cxx.ccbin
    return unit.argv[unit.argv.index(compiler) : unit.argv.index("-c")]
