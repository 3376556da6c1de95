"""The table of architectures, held against NVIDIA's own calculator, and against a GPU."""

from __future__ import annotations

import ctypes
import itertools
import subprocess
from pathlib import Path

import pytest

from fictl.arch import Arch
from fictl.inspect import compiled
from fictl.inspect.limits import limits_of
from fictl.inspect.metrics import LaunchSize, occupancy_of
from fictl.inspect.selection import inspect
from fictl.jit.progress import LogObserver
from fictl.toolchain import Nvcc, find_cxx, visible_gpus
from fictl.toolchain.occupancy import occupancy

ARCHS = ("7.5", "8.0", "8.6", "8.7", "8.9", "9.0", "10.0", "10.3", "11.0", "12.0", "12.1")
THREADS = (32, 96, 128, 256, 512, 1024)
REGISTERS = (16, 33, 64, 128, 255)
SHARED = (0, 100, 10_880, 30_000, 47 << 10)
BARRIERS = (0, 1, 3, 16)


@pytest.mark.needs_nvcc
def test_it_counts_blocks_as_cuda_occupancy_does(real_nvcc: Nvcc, tmp_path: Path) -> None:
    program = tmp_path / "occupancy"
    source = Path(__file__).with_name("occupancy.cpp")
    folders = [f"-I{folder}" for folder in real_nvcc.include_dirs]
    subprocess.run([find_cxx().ccbin, *folders, source, "-o", program], check=True)
    asked = list(itertools.product(ARCHS, THREADS, REGISTERS, SHARED, BARRIERS))
    lines = []
    for arch, *block in asked:
        limits = limits_of(Arch.parse(arch))
        assert limits is not None
        lines.append(
            f"{arch} {limits.threads} {limits.shared} {limits.registers} "
            f"{' '.join(map(str, block))}"
        )
    said = subprocess.run([program], input="\n".join(lines), capture_output=True, text=True)
    theirs = map(int, said.stdout.split())
    for (arch, *block), blocks in zip(asked, theirs, strict=True):
        limits = limits_of(Arch.parse(arch))
        assert limits is not None
        assert occupancy(limits, *block).blocks == blocks, (arch, block)


def test_a_suffix_changes_no_limit_and_an_unknown_architecture_has_none() -> None:
    assert limits_of(Arch.parse("9.0a")) == limits_of(Arch.parse("9.0"))
    assert limits_of(Arch.parse("6.1")) is None


MANY_BARRIERS = """
__global__ void ManyBarriers(int* out) {
  asm volatile("bar.sync %0, 32;" ::"r"(threadIdx.x / 32) : "memory");
  *out = 1;
}
"""


@pytest.mark.needs_gpu
@pytest.mark.needs_nvcc
def test_the_driver_of_the_gpu_here_counts_the_same(planted: Path) -> None:
    import torch

    torch.zeros(1, device="cuda")  # A context.
    (planted / "barriers.cu").write_text(MANY_BARRIERS)
    for found in inspect(["faults", "barriers.cu"], (visible_gpus()[0].arch,), LogObserver()):
        (unit,) = found.units
        assert isinstance(unit, compiled.Compiled)
        for kernel in unit.kernels:
            theirs = blocks_by_driver(unit.folder / "unit.cubin", kernel.mangled)
            for (threads, shared), blocks in theirs.items():
                ours = occupancy_of(kernel, LaunchSize(threads, shared))
                assert ours is not None
                assert ours.blocks == blocks, (kernel.name, threads, shared, ours)


def blocks_by_driver(cubin: Path, kernel: str) -> dict[tuple[int, int], int]:
    """By threads a block and dynamic shared memory."""
    driver = ctypes.CDLL("libcuda.so.1")
    module, function, blocks = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
    assert driver.cuModuleLoad(ctypes.byref(module), str(cubin).encode()) == 0
    assert driver.cuModuleGetFunction(ctypes.byref(function), module, kernel.encode()) == 0
    ask = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor
    found = {}
    for threads, shared in itertools.product(THREADS, SHARED):
        assert ask(ctypes.byref(blocks), function, threads, ctypes.c_size_t(shared)) == 0
        found[threads, shared] = blocks.value
    return found
