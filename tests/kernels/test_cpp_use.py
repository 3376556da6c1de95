"""Plain C++ programs use the header library: with one -I, and through CMake's find_package."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fictl.jit import gen_jit_spec

from .conftest import INCLUDE, KERNELS, Toolkit, run, run_on_gpu

HERE = Path(__file__).parent
PROJECT = HERE / "cpp_use"
_RUN = """import ctypes, sys
from fictl.jit.emulation import emulated_device
emulated_device()
sys.exit(ctypes.CDLL(sys.argv[1]).main())
"""


def test_a_program_builds_with_one_include_folder(toolkit: Toolkit, tmp_path: Path) -> None:
    program = tmp_path / "main"
    toolkit.compile(f"-I{INCLUDE}", PROJECT / "main.cu", "-o", program)
    run_on_gpu(program)


def test_a_cmake_project_finds_the_package(toolkit: Toolkit, tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("no cmake on PATH")
    run(
        "cmake",
        "-S",
        PROJECT,
        "-B",
        tmp_path,
        f"-Dfictl_DIR={KERNELS / 'cmake'}",
        f"-DCMAKE_CUDA_COMPILER={toolkit.nvcc}",
        "-DCMAKE_CUDA_ARCHITECTURES=80",
    )
    run("cmake", "--build", tmp_path)
    run_on_gpu(tmp_path / "cpp_use")


@pytest.mark.parametrize("name", ["attention", "one_call", "one_call_graph"])
def test_a_program_runs_attention(name: str, toolkit: Toolkit, tmp_path: Path) -> None:
    program = tmp_path / name
    toolkit.compile(f"-I{INCLUDE}", "-arch=sm_80", PROJECT / f"{name}.cu", "-o", program)
    run_on_gpu(program)


@pytest.mark.parametrize("name", ["attention", "one_call"])
def test_the_same_program_is_right_without_a_gpu(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_emulated(PROJECT / f"{name}.cu", monkeypatch) == 0


def test_the_program_of_the_page_prints_what_it_says(
    toolkit: Toolkit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd
) -> None:
    source = tmp_path / "main.cu"
    source.write_text(program_of(KERNELS.parent / "docs" / "cpp.md"), encoding="utf-8")
    toolkit.compile(f"-I{INCLUDE}", "-arch=sm_80", source, "-o", tmp_path / "main")
    assert run_emulated(source, monkeypatch) == 0
    assert capfd.readouterr().out == "0.5\n"


def program_of(page: Path) -> str:
    """The block that says which file it is."""
    (found,) = re.findall(
        r"^```cpp\n(// main\.cu\n.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    return found


def run_emulated(source: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return what its main() returns, in a process of its own: it may leave memory allocated."""
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    spec = gen_jit_spec(f"cpp_{source.stem}", [source], ["-fvisibility=default"])
    module = spec.build().module
    return subprocess.run([sys.executable, "-c", _RUN, str(module)], check=False).returncode


def test_clusters_large_shared_memory_and_pdl_launch(toolkit: Toolkit, tmp_path: Path) -> None:
    program = tmp_path / "launch_features"
    toolkit.compile(f"-I{INCLUDE}", "-arch=sm_90", HERE / "launch_features.cu", "-o", program)
    run_on_gpu(program)
