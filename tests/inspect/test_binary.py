"""Compiled files, read with what cuobjdump and nvdisasm of CUDA 13 print."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from fictl.arch import Arch
from fictl.errors import UsageError
from fictl.inspect.binary import inspect_file
from fictl.inspect.metrics import LaunchSize, values

SPILLING = "_ZN7planted7planted14SpillingKernelEPfPKfl"


def elf(machine: int, more: bytes = b"") -> bytes:
    """A file header without any section; `more` is what follows it."""
    header = bytearray(64)
    header[:4] = b"\x7fELF"
    struct.pack_into("<H", header, 18, machine)
    struct.pack_into("<QQ", header, 32, 64, 64)
    return bytes(header) + more


@pytest.fixture
def tools(program, recorded: Path) -> None:
    """cuobjdump and nvdisasm of the planted faults, whatever the file."""
    program("nvdisasm", f'cat "{recorded}/planted_90a.sass"')
    program(
        "cuobjdump",
        f'case "$1" in -res-usage) cat "{recorded}/planted_90a.res_usage";; '
        f'-elf) cat "{recorded}/planted_90a.elf";; -xelf) exit 1;; esac',
    )


@pytest.mark.usefixtures("tools")
def test_a_cubin_says_all_but_spills(tmp_path: Path) -> None:
    (tmp_path / "a.cubin").write_bytes(elf(190))
    found = inspect_file(tmp_path / "a.cubin")
    assert (found.module, found.archs, len(found.kernels)) == ("a.cubin", ("9.0a",), 6)
    (spilling,) = [kernel for kernel in found.kernels if kernel.mangled == SPILLING]
    numbers = values(spilling, LaunchSize())
    assert (numbers["registers"], numbers["local_bytes"], numbers["occupancy"]) == (32, 504, 100.0)
    assert numbers["spill_bytes"] is None
    assert spilling.threads == 1024
    assert spilling.mix["STL"] == 2


@pytest.mark.usefixtures("tools")
def test_shared_memory_is_without_what_is_the_systems(tmp_path: Path) -> None:
    (tmp_path / "a.cubin").write_bytes(elf(190))
    found = inspect_file(tmp_path / "a.cubin")
    shared = {kernel.name.rpartition("::")[2]: kernel.shared for kernel in found.kernels}
    assert (shared["SharedRaceKernel"], shared["UnwrittenKernel"]) == (256, 0)


@pytest.mark.usefixtures("tools")
def test_code_that_lies_in_a_library_as_plain_bytes_is_found(tmp_path: Path) -> None:
    (tmp_path / "module.so").write_bytes(elf(62, b"text" + elf(190) + elf(190) + b"more"))
    found = inspect_file(tmp_path / "module.so")
    assert len(found.units) == 2
    assert len(found.kernels) == 6  # The same ones in both.


@pytest.mark.usefixtures("tools")
def test_code_for_other_gpus_is_left_out_where_one_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.cubin").write_bytes(elf(190))
    assert inspect_file(tmp_path / "a.cubin", [Arch(8, 0)]).kernels == ()
    assert len(inspect_file(tmp_path / "a.cubin", [Arch(9, 0)]).kernels) == 6


def test_a_cubin_of_cuda_12_is_read_too(program, tmp_path: Path) -> None:
    header = '.headerflags @"EF_CUDA_SM90 EF_CUDA_ACCELERATORS"'
    program("nvdisasm", f"echo '{header}'")
    program(
        "cuobjdump",
        "case $1 in -elf) echo '64bit elf: type=2, abi=7, sm=90, toolkit=129';; "
        "*) echo ' Function k:'; echo '  REG:8 STACK:0 SHARED:0 LOCAL:0';; esac",
    )
    (tmp_path / "a.cubin").write_bytes(elf(190))
    (kernel,) = inspect_file(tmp_path / "a.cubin").kernels
    assert (kernel.name, kernel.arch, kernel.registers) == ("k", "9.0a", 8)


@pytest.mark.usefixtures("tools")
def test_a_library_without_kernels_says_so(tmp_path: Path) -> None:
    (tmp_path / "module.so").write_bytes(elf(62))
    found = inspect_file(tmp_path / "module.so")
    assert (found.kernels, found.note) == ((), "it holds no compiled kernel")


@pytest.mark.parametrize("data", [b"", b"text", b"\x7fEL"])
def test_another_file_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.so").write_bytes(data)
    with pytest.raises(UsageError, match=r"a\.so is not a compiled file"):
        inspect_file(tmp_path / "a.so")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"a\.so cannot be read: No such file"):
        inspect_file(tmp_path / "a.so")
