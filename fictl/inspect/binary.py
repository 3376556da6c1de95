"""Compiled files: one .cubin, or all cubins in a library or a program."""

from __future__ import annotations

import re
import struct
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from fictl.arch import Arch
from fictl.errors import FictlError, UsageError, unreadable
from fictl.inspect.disassembler import (
    attributes,
    disassembly,
    extract,
    live_registers,
    resources,
)
from fictl.inspect.inspected import Inspected
from fictl.inspect.instruction import SassInstruction, parse_sass
from fictl.inspect.kernel import InspectedKernel, facts_of
from fictl.inspect.pressure import Peak, peaks
from fictl.inspect.sources import KernelSources
from fictl.jit.jobs import usable_cores
from fictl.user_file import read_bytes

_ELF = b"\x7fELF"
_CUDA = 190  # e_machine
_TARGET = re.compile(r"^64-?bit elf: .*\bsm=(\w+)", re.IGNORECASE | re.MULTILINE)
# Mark of cubins for 9.0a (not 9.0) in CUDA 12.
_EXACT = "EF_CUDA_ACCELERATORS"
_USED = re.compile(r"Function (\S+):\s+REG:(\d+) STACK:(\d+) SHARED:(\d+) LOCAL:(\d+)")
_INFO = re.compile(r"^\.nv\.info\.(\S+)$", re.MULTILINE)
_BOUND = re.compile(
    r"EIATTR_(?:MAX_THREADS|REQNTID)\s+Format:\s*\S+\s+Value:((?:\s+0x[0-9a-f]+){3})"
)
# Since Hopper, cuobjdump counts the system's shared memory of a block as the kernel's.
_RESERVED, _RESERVED_SINCE = 1024, 9


@dataclass(frozen=True)
class CubinFile:
    """A cubin after reading: its kernels, their code, and the file's bytes."""

    kernels: tuple[InspectedKernel, ...]
    code: Mapping[str, tuple[SassInstruction, ...]]
    content: bytes

    def sass(self) -> Mapping[str, tuple[SassInstruction, ...]]:
        return self.code

    def peaks(self) -> dict[str, Peak]:
        with TemporaryDirectory(prefix="fictl-inspect-") as folder:
            file = Path(folder) / "one.cubin"
            file.write_bytes(self.content)
            return peaks(live_registers(file), self.code)

    def portable(self, path: str) -> str:
        return path

    def ptx(self) -> str:
        raise UsageError("a compiled file has no PTX to show", "name the op, or the .cu")


def inspect_file(path: Path, wanted: Collection[Arch] = ()) -> Inspected:
    """Read the kernels of a file: all of them, or those for these compute capabilities."""
    data = _bytes(path)
    with TemporaryDirectory(prefix="fictl-inspect-") as name:
        folder = Path(name)
        files = [path] if _is_cubin(data) else [*extract(path, folder), *_embedded(data, folder)]
        with ThreadPoolExecutor(usable_cores()) as pool:  # The disassembler takes long to start.
            read = pool.map(lambda file: _read(file, wanted), files)
            cubins = tuple(filter(None, read))
    kernels = {kernel.key: kernel for cubin in cubins for kernel in cubin.kernels}
    archs = dict.fromkeys(kernel.arch for kernel in kernels.values())
    return Inspected(
        module=path.name,
        archs=tuple(archs),
        units=cubins,
        sources=KernelSources.nowhere(),
        note="" if kernels else "it holds no compiled kernel",
        kernels=tuple(kernels.values()),
    )


def _bytes(path: Path) -> bytes:
    try:
        data = read_bytes(path)
    except OSError as error:
        raise unreadable(path, error) from error
    if not data.startswith(_ELF):
        raise UsageError(f"{path} is not a compiled file", "a .cubin, a .so, or a .cu is expected")
    return data


def _is_cubin(data: bytes, at: int = 0) -> bool:
    return len(data) >= at + 64 and struct.unpack_from("<H", data, at + 18)[0] == _CUDA


def _embedded(data: bytes, folder: Path) -> Iterator[Path]:
    """Cubins embedded in the file as plain bytes, as in launchers of Triton's code."""
    at = data.find(_ELF, 1)
    while at >= 0:
        if _is_cubin(data, at):
            path = folder / f"embedded.{at}.cubin"
            path.write_bytes(data[at : at + _length(data, at)])
            yield path
        at = data.find(_ELF, at + 1)


def _length(data: bytes, at: int) -> int:
    """Length of the cubin, up to the end of its tables, which are its last part."""
    programs, sections = struct.unpack_from("<QQ", data, at + 32)
    sizes = struct.unpack_from("<HHHH", data, at + 54)
    return int(max(programs + sizes[0] * sizes[1], sections + sizes[2] * sizes[3]))


def _read(file: Path, wanted: Collection[Arch]) -> CubinFile | None:
    """Read a cubin; None for a cubin without kernels, such as a launcher's own, or for
    another GPU.
    """
    used, elf = _USED.findall(resources(file)), attributes(file)
    target = _TARGET.search(elf)
    if target is None:
        raise FictlError(f"cuobjdump does not say what {file.name} is for", "a newer one may")
    arch = Arch.parse(target[1])
    if not used or (wanted and arch.plain not in wanted):
        return None
    text = disassembly(file)
    if _EXACT in text:
        arch = Arch(arch.major, arch.minor, "a")
    code, bounds = parse_sass(text), _bounds(elf)
    kernels = tuple(
        _kernel(name, arch, tuple(map(int, numbers)), bounds.get(name), code.get(name, ()))
        for name, *numbers in used
    )
    return CubinFile(kernels, code, read_bytes(file))


def _kernel(
    name: str,
    arch: Arch,
    used: tuple[int, ...],
    threads: int | None,
    code: tuple[SassInstruction, ...],
) -> InspectedKernel:
    registers, stack, shared, local = used
    reserved = _RESERVED if arch.major >= _RESERVED_SINCE else 0
    return InspectedKernel(
        mangled=name,
        arch=str(arch),
        unit="",
        registers=registers,
        shared=max(0, shared - reserved),
        local=max(stack, local),
        spill_stores=None,
        spill_loads=None,
        barriers=None,
        threads=threads,
        **facts_of(code),
    )


def _bounds(text: str) -> dict[str, int]:
    """Launch bounds by mangled name."""
    parts = _INFO.split(text)
    bounds = {}
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        if match := _BOUND.search(body.partition("\n.nv.")[0]):
            x, y, z = (int(word, 16) for word in match[1].split())
            bounds[name] = x * y * z
    return bounds
