"""A C++ program loads a module from the cache and calls it: no Python, no torch."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from fictl.emu.toolchain import current_toolchain
from fictl.jit.emulated_runtime import link_runtime
from fictl.jit.emulation import build_runtime
from fictl.jit.ffi import ffi_paths
from fictl.op import module_spec
from fictl.project import find

from .conftest import run

PROGRAM = Path(__file__).parent / "cpp_call" / "main.cpp"


@pytest.fixture(scope="module")
def emulated_scale() -> Path:
    """The module, built for the emulated device."""
    if current_toolchain() is None:
        pytest.skip("needs a C++ compiler and CUDA's headers")
    return replace(module_spec(str(find("scale")[0].op)), device="emu").build().module


def test_a_program_calls_a_cached_module(
    cxx: str, ffi_includes: list[str], emulated_scale: Path, tmp_path: Path
) -> None:
    library = ffi_paths().library
    program = tmp_path / "main"
    run(
        cxx,
        "-std=c++17",
        *ffi_includes,
        PROGRAM,
        library,
        f"-Wl,-rpath,{library.parent}",
        "-o",
        program,
    )
    link_runtime(tmp_path, build_runtime().module)  # A module for GPUs needs nothing of the kind.
    done = subprocess.run(
        [program, emulated_scale],
        env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("ValueError: scale: argument 'input' is on CUDA:0, but this")
