"""NVIDIA's two programs that read compiled code, or in words that they are missing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fictl.errors import FictlError, SetupError
from fictl.paths import matching
from fictl.process import Finished, run, stream
from fictl.toolchain import find_tool

_PACKAGES = {"nvdisasm": "nvidia-cuda-nvdisasm", "cuobjdump": "nvidia-cuda-cuobjdump"}


def require(name: str) -> Path:
    found = find_tool(name)
    if found is None:
        raise SetupError(
            f"{name} is neither on PATH, nor beside nvcc, nor in a Python package",
            f"pip install {_PACKAGES[name]}",
        )
    return found


def disassembly(cubin: Path) -> str:
    """With the lines of the source that each instruction is of, where the cubin knows them."""
    return _read("nvdisasm", ["-gi", "-c"], cubin).output


def live_registers(cubin: Path) -> str:
    """How many are in use at each instruction, without lines; '' of code that it cannot follow."""
    done = run([require("nvdisasm"), "-plr", "-lrm", "count", "-c", cubin])
    return "" if done.code else done.output


def _read(name: str, flags: Sequence[str], file: Path) -> Finished:
    done = run([require(name), *flags, file])
    if done.code:
        said = next(reversed(done.output.strip().splitlines()), "nothing")
        raise FictlError(
            f"{name} cannot read {file.name}: {said}",
            f"a newer {name} may: pip install {_PACKAGES[name]}, with its folder first on PATH",
        )
    return done


def resources(file: Path) -> str:
    """Registers and memory of each kernel of a cubin."""
    return _read("cuobjdump", ["-res-usage"], file).output


def attributes(file: Path) -> str:
    """What a cubin says of its kernels to the driver, launch bounds for one."""
    return _read("cuobjdump", ["-elf"], file).output


def extract(file: Path, folder: Path) -> list[Path]:
    """The cubins that a library or a program holds, written to `folder`."""
    # Of a file without any it complains: what lies there then tells.
    stream([require("cuobjdump"), "-xelf", "all", file.absolute()], lambda _: None, cwd=folder)
    return matching(folder, "*.cubin")
