"""Plain C++ programs use the header library: with one -I, and through CMake's find_package."""

from __future__ import annotations

import ctypes
import shutil
from pathlib import Path

import pytest

from fictl.jit import gen_jit_spec
from fictl.jit.emulation import emulated_device

from .conftest import INCLUDE, KERNELS, Toolkit, run, run_on_gpu

HERE = Path(__file__).parent
PROJECT = HERE / "cpp_use"


def test_a_program_builds_with_one_include_folder(toolkit: Toolkit, tmp_path: Path) -> None:
    program = tmp_path / "main"
    toolkit.compile(f"-I{INCLUDE}", PROJECT / "main.cu", "-o", program)
    run_on_gpu(program)


def test_a_cmake_project_finds_the_package(toolkit: Toolkit, tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("no cmake on PATH")
    run(
        "cmake", "-S", PROJECT, "-B", tmp_path, f"-Dfictl_DIR={KERNELS / 'cmake'}",
        f"-DCMAKE_CUDA_COMPILER={toolkit.nvcc}", "-DCMAKE_CUDA_ARCHITECTURES=80",
    )  # fmt: skip
    run("cmake", "--build", tmp_path)
    run_on_gpu(tmp_path / "cpp_use")


def test_a_program_plans_and_runs_attention(toolkit: Toolkit, tmp_path: Path) -> None:
    program = tmp_path / "attention"
    toolkit.compile(f"-I{INCLUDE}", "-arch=sm_80", PROJECT / "attention.cu", "-o", program)
    run_on_gpu(program)


def test_the_same_program_is_right_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    spec = gen_jit_spec("cpp_attention", [PROJECT / "attention.cu"], ["-fvisibility=default"])
    module = spec.build().module
    emulated_device()
    assert ctypes.CDLL(str(module)).main() == 0


def test_clusters_large_shared_memory_and_pdl_launch(toolkit: Toolkit, tmp_path: Path) -> None:
    program = tmp_path / "launch_features"
    toolkit.compile(
        f"-I{INCLUDE}", "-arch=sm_90", HERE / "launch_features.cu", "-o", program
    )  # fmt: skip
    run_on_gpu(program)
