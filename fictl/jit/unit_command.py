"""Parts of a unit's compile command, for tools that run or show it in another form."""

from __future__ import annotations

from fictl.arch import Arch
from fictl.jit.plan import Unit
from fictl.toolchain import Toolchain
from fictl.toolchain.ptxas import VERBOSE


def compiler_and_flags(unit: Unit, toolchain: Toolchain) -> tuple[str, ...]:
    """Return a unit's command from the compiler on, without launcher, source and object."""
    compiler = str(toolchain.nvcc.path) if unit.device else toolchain.cxx.ccbin
    return unit.argv[unit.argv.index(compiler) : unit.argv.index("-c")]


def cubin_command(unit: Unit, toolchain: Toolchain, arch: Arch, cubin: str) -> tuple[str, ...]:
    """Command of the build, for one architecture and to a cubin, with line information; its PTX is
    kept beside.
    """
    words = compiler_and_flags(unit, toolchain)
    return (
        *(word for word in words if not word.startswith("-gencode")),
        Arch(arch.major, arch.minor, arch.suffix).gencode,
        *(() if "-G" in words else ("-lineinfo",)),
        VERBOSE,
        "-cubin",
        "--keep",
        str(unit.source),
        "-o",
        cubin,
    )
