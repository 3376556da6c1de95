"""The compilers that the C++ tests use, and the module through which Python sees binding/*.h."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fictl.paths import data_root
from fictl.toolchain import cudart_to_link, find_cxx, find_nvcc

KERNELS = data_root("kernels")
INCLUDE = KERNELS / "include"
NO_GPU = 77
_NVCC_FLAGS = (
    "-std=c++17",
    "-O3",
    "--expt-relaxed-constexpr",
    "-Xcompiler=-fPIC,-fvisibility=hidden",
)


def run(*argv: str | Path) -> str:
    """The output of a program that must succeed."""
    done = subprocess.run([str(word) for word in argv], capture_output=True, text=True)
    assert done.returncode == 0, f"{done.args}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def output_of(*argv: str | Path) -> str:
    """Return what a compiler that must succeed writes, with its remarks."""
    done = subprocess.run(
        [str(word) for word in argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert done.returncode == 0, f"{done.args}\n{done.stdout}"
    return done.stdout


def run_on_gpu(program: Path) -> None:
    """Run a program that returns NO_GPU where it finds no GPU that it can use."""
    done = subprocess.run([str(program)], capture_output=True, text=True)
    if done.returncode == NO_GPU:
        pytest.skip("built and linked; no GPU here to run it on")
    assert done.returncode == 0, done.stdout + done.stderr


@dataclass(frozen=True)
class Toolkit:
    """A CUDA toolkit: its compiler, headers and runtime."""

    nvcc: Path
    include: Path
    cudart: Path

    def compile(self, *words: str | Path) -> None:
        run(self.nvcc, *_NVCC_FLAGS, *words)


@pytest.fixture(scope="session")
def toolkit() -> Toolkit:
    nvcc = find_nvcc()
    if nvcc is None:
        pytest.skip("needs nvcc: none was found")
    include = next(path for path in nvcc.include_dirs if (path / "cuda_runtime.h").is_file())
    return Toolkit(nvcc.path, include, cudart_to_link(nvcc))


@pytest.fixture(scope="session")
def cxx() -> str:
    return find_cxx().ccbin


@pytest.fixture(scope="session")
def ffi_includes() -> list[str]:
    """The -I words of apache-tvm-ffi and DLPack."""
    from tvm_ffi.libinfo import find_dlpack_include_path, find_include_path

    return [f"-I{path}" for path in (find_include_path(), find_dlpack_include_path())]


@pytest.fixture(scope="session")
def load_fixture(
    toolkit: Toolkit, cxx: str, ffi_includes: list[str], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Any]:
    """Build binding/fixture.cpp as fictl builds a binding, and load it."""
    import tvm_ffi
    from tvm_ffi.libinfo import find_libtvm_ffi

    # Why: tvm-ffi knows the other kinds, but brings this one as a plain RuntimeError.
    tvm_ffi.register_error(NotImplementedError)

    def load(*words: str) -> Any:
        library = tmp_path_factory.mktemp("fixture") / "fixture.so"
        run(
            cxx,
            "-std=c++17",
            "-O1",
            "-fPIC",
            "-fvisibility=hidden",
            "-shared",
            "-Wl,--no-undefined",
            "-Wl,--exclude-libs,ALL",
            *words,
            *ffi_includes,
            f"-I{KERNELS}",
            f"-I{INCLUDE}",
            f"-I{toolkit.include}",
            Path(__file__).with_name("binding") / "fixture.cpp",
            "-o",
            library,
            find_libtvm_ffi(),
            toolkit.cudart,
            "-ldl",
            "-lrt",
            "-lpthread",
        )
        ctypes.CDLL(str(toolkit.cudart))
        return tvm_ffi.load_module(str(library))

    return load


@pytest.fixture(scope="session")
def cuda_module(load_fixture: Callable[..., Any]) -> Any:
    return load_fixture()


@pytest.fixture(scope="session")
def emu_module(load_fixture: Callable[..., Any]) -> Any:
    return load_fixture("-DFICTL_EMU")
