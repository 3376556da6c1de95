"""NVIDIA's programs that read compiled code: nvdisasm and cuobjdump."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fictl.errors import FictlError, SetupError
from fictl.paths import matching
from fictl.process import Finished, run, stream
from fictl.toolchain import find_tool

_PACKAGES = {"nvdisasm": "nvidia-cuda-nvdisasm", "cuobjdump": "nvidia-cuda-cuobjdump"}


def require(name: str) -> Path:
    path = find_tool(name)
    if path is None:
        raise SetupError(
            f"{name} is neither on PATH, nor beside nvcc, nor in a Python package",
            f"pip install {_PACKAGES[name]}",
        )
    return path


def disassembly(cubin: Path) -> str:
    """Disassemble a cubin, with the source line of each instruction if the cubin has it."""
    return _read("nvdisasm", ["-gi", "-c"], cubin).output


def live_registers(cubin: Path) -> str:
    """Disassemble with the number of live registers; '' for code that nvdisasm cannot analyse."""
    done = run([require("nvdisasm"), "-plr", "-lrm", "count", "-c", cubin])
    return "" if done.code else done.output


def _read(name: str, flags: Sequence[str], file: Path) -> Finished:
    done = run([require(name), *flags, file])
    if done.code:
        message = next(reversed(done.output.strip().splitlines()), "nothing")
        raise FictlError(
            f"{name} cannot read {file.name}: {message}",
            f"a newer {name} may: pip install {_PACKAGES[name]}, with its folder first on PATH",
        )
    return done


def resources(file: Path) -> str:
    """Registers and memory of each kernel of a cubin."""
    return _read("cuobjdump", ["-res-usage"], file).output


def attributes(file: Path) -> str:
    """Attributes of a cubin's kernels for the driver, such as launch bounds."""
    return _read("cuobjdump", ["-elf"], file).output


def extract(file: Path, folder: Path) -> list[Path]:
    """Write the cubins in a library or a program to `folder`, and return their paths."""
    # The exit code is an error for a file without cubins: the folder shows the result.
    stream([require("cuobjdump"), "-xelf", "all", file.absolute()], lambda _: None, cwd=folder)
    return matching(folder, "*.cubin")
