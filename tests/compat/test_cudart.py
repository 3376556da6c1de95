"""CudaRTLibrary, by a runtime that is a stand-in, and by that of a GPU where there is one."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest
import torch

from fictl.compat.flashinfer import _cudart
from fictl.compat.flashinfer.comm import CudaRTLibrary
from fictl.errors import SetupError

SOURCE = Path(__file__).with_name("fake_cudart.cpp")
needs_cxx = pytest.mark.skipif(not shutil.which("g++"), reason="needs g++")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("cudart") / "libcudart-d0da41ae.so.13.0"
    for name, words in ((built, ()), (built.with_name("old.so"), ("-DOLD_RUNTIME",))):
        subprocess.run(["g++", "-shared", "-fPIC", *words, SOURCE, "-o", name], check=True)
    return built


@needs_cxx
def test_functions_of_the_runtime(library: Path) -> None:
    runtime = CudaRTLibrary(str(library))
    runtime.cudaSetDevice(0)
    memory, copy = runtime.cudaMalloc(8), ctypes.create_string_buffer(8)
    runtime.cudaMemset(memory, 7, 8)
    opened = runtime.cudaIpcOpenMemHandle(runtime.cudaIpcGetMemHandle(memory))
    runtime.cudaMemcpy(ctypes.addressof(copy), opened, 8)
    assert (opened.value, copy.raw) == (memory.value, b"\7" * 8)
    runtime.cudaIpcCloseMemHandle(opened)
    runtime.cudaDeviceSynchronize()
    runtime.cudaFree(memory)
    runtime.cudaDeviceReset()
    assert runtime.lib is CudaRTLibrary(str(library)).lib


@needs_cxx
@pytest.mark.parametrize(
    "call",
    [
        lambda r: r.cudaSetDevice(0),
        lambda r: r.cudaDeviceSynchronize(),
        lambda r: r.cudaMalloc(8),
        lambda r: r.CUDART_CHECK(2),
    ],
)
def test_errors_have_the_runtime_s_words(
    library: Path, call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_ERROR", "2")
    with pytest.raises(RuntimeError, match="CUDART error: out of memory"):
        call(CudaRTLibrary(str(library)))


@needs_cxx
def test_the_one_that_is_loaded(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maps = tmp_path / "maps"
    monkeypatch.setattr(_cudart, "_MAPS", maps)
    others = ["[heap]", "/x/libcudart.so.12.backup", "/libcudart.so/x.py", "/libcudart-stub.so"]
    rows = [f"7f00-7f01 r-xp 00000000 08:01 1   {path}\n" for path in [*others, library]]
    maps.write_text("".join(rows[:-1]), encoding="utf-8")
    with pytest.raises(SetupError, match="this process has not loaded libcudart"):
        CudaRTLibrary()
    maps.write_text("".join(rows), encoding="utf-8")
    assert CudaRTLibrary().lib._name == str(library)


@needs_cxx
def test_a_file_that_is_something_else(library: Path, tmp_path: Path) -> None:
    for path in (library.with_name("old.so"), tmp_path / "absent.so", SOURCE):
        with pytest.raises(SetupError, match=f"{path} is not a CUDA runtime"):
            CudaRTLibrary(str(path))


@pytest.mark.needs_gpu
def test_memory_of_a_gpu(device: str) -> None:
    runtime, here = CudaRTLibrary(), torch.zeros(64, dtype=torch.uint8)
    memory = runtime.cudaMalloc(64)
    runtime.cudaMemset(memory, 7, 64)
    runtime.cudaMemcpy(here.data_ptr(), memory, 64)
    assert here.unique().tolist() == [7]
    runtime.cudaFree(memory)
    with pytest.raises(RuntimeError, match="CUDART error: "):
        runtime.cudaSetDevice(1 << 20)
