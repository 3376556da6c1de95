"""Solutions in C++ and CUDA with TVM-FFI: compiled once, kept by content, run on both devices."""

from __future__ import annotations

import pytest
import torch

from fictl import toolchain
from fictl.jit import load
from fictl.paths import cache_root
from fictl.runnable import BuilderRegistry, BuildError, cuda_libraries
from fictl.runnable.builders import TVMFFIBuilder
from fictl.runnable.builders.tvm_ffi import PROJECT

KERNEL = """
#pragma once
__global__ void scale(const float* x, float s, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * s;
}
"""
LAUNCH = """
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>

#include "kernels/scale.cuh"

namespace ffi = tvm::ffi;

void run(ffi::TensorView x, double s, ffi::TensorView y) {
  DLDevice at = x.device();
  auto stream = static_cast<cudaStream_t>(TVMFFIEnvGetStream(at.device_type, at.device_id));
  int n = x.size(0);
  scale<<<(n + 127) / 128, 128, 0, stream>>>(
      static_cast<const float*>(x.data_ptr()), s, static_cast<float*>(y.data_ptr()), n);
}

ffi::Tensor allocated(ffi::TensorView x, double s) {
  auto y = ffi::Tensor::FromEnvAlloc(TVMFFIEnvTensorAlloc, x.shape(), x.dtype(), x.device());
  run(x, s, y);
  return y;
}

ffi::Array<ffi::Tensor> several(ffi::TensorView x, double s) { return {allocated(x, s)}; }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(allocated, allocated);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(several, several);
"""
FILES = {"main.cu": LAUNCH, "kernels/scale.cuh": KERNEL}


@pytest.fixture(autouse=True)
def _fresh(kept, monkeypatch):
    monkeypatch.setattr(load, "_loaded", {})


def built(definition, solution):
    return TVMFFIBuilder().build(definition, solution)


def runs(definition, solution, device):
    x = torch.arange(200.0, device=device)
    for symbol, dps in (("run", True), ("allocated", False), ("several", False)):
        made = solution(FILES, "cuda", f"main.cu::{symbol}", dps=dps)
        runnable = BuilderRegistry.get_instance().build(definition, made)
        y = torch.full_like(x, float("nan"))
        runnable.call_dest(x=x, s=2.0, y=y)
        assert torch.equal(y, x * 2)
        assert torch.equal(runnable(x=x, s=3.0), x * 3)
    assert runnable.metadata.build_type == "tvm_ffi"


def test_cuda_runs_emulated(definition, solution, users_cache, monkeypatch):
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    runs(definition, solution, "cpu")


@pytest.mark.needs_gpu
def test_cuda_runs_on_a_gpu(definition, solution):
    runs(definition, solution, "cuda")


@pytest.mark.needs_nvcc
def test_a_build_is_found_again_by_its_content(definition, exporting, monkeypatch):
    first = built(definition, exporting())
    assert first.metadata.misc["entry_symbol"] == "run"
    assert first._callable(3) == 6
    monkeypatch.setattr(load, "_loaded", {})
    monkeypatch.setenv("FICTL_DISABLE_JIT", "1")
    again = built(definition, exporting())
    assert again.metadata.misc["binary"] == first.metadata.misc["binary"]
    assert again._callable(4) == 8


@pytest.mark.needs_nvcc
def test_other_flags_are_another_build(definition, exporting):
    options = {"cflags": ["-DTWICE=2"], "cuda_cflags": [], "ld_flags": []}
    one = built(definition, exporting("TWICE", compile_options=options))
    options["cflags"] = ["-DTWICE=4"]
    two = built(definition, exporting("TWICE", compile_options=options))
    assert (one._callable(3), two._callable(3)) == (6, 12)


@pytest.mark.needs_nvcc
def test_a_corrupt_build_heals(definition, exporting, caplog):
    binary = built(definition, exporting()).metadata.misc["binary"]
    load._loaded.clear()
    with open(binary, "r+b") as file:
        file.write(b"broken")
    assert built(definition, exporting())._callable(3) == 6


@pytest.mark.needs_nvcc
def test_processes_build_it_once(definition, exporting, python):
    made = exporting()
    code = (
        "from fictl.trace import Definition, Solution\n"
        "from fictl.runnable import BuilderRegistry\n"
        f"d = Definition.model_validate_json({definition.to_json()!r})\n"
        f"s = Solution.model_validate_json({made.to_json()!r})\n"
        "r = BuilderRegistry.get_instance().build(d, s)\n"
        "print('result', r._callable(21))\n"
    )
    outputs = [process.communicate()[0] for process in [python(code) for _ in range(4)]]
    assert [output.count("result 42") for output in outputs] == [1] * 4
    assert sum(output.count("fictl: built ") for output in outputs) == 1
    folders = [*(cache_root() / "v1" / PROJECT).glob("tvm_ffi_answer/*/*/module.so")]
    assert len(folders) == 1


@pytest.mark.needs_nvcc
def test_the_first_error_is_the_compilers(definition, solution):
    with pytest.raises(BuildError, match=r"does not build: src/main.cpp:2:9: error: ") as raised:
        built(definition, solution({"src/main.cpp": "//\nint x = y;\n"}, "cpp", "src/main.cpp::f"))
    assert raised.value.first_error.startswith("src/main.cpp:2:9: error: ")
    assert "int x = y" in raised.value.log
    assert "failed" in raised.value.hint


@pytest.mark.needs_nvcc
def test_an_entry_that_is_not_exported_names_those_that_are(definition, exporting):
    with pytest.raises(BuildError, match="answer exports no run; it exports walk") as raised:
        built(definition, exporting(name="walk"))
    assert "TVM_FFI_DLL_EXPORT_TYPED_FUNC(run" in raised.value.hint


@pytest.mark.needs_nvcc
def test_the_driver_that_is_missing_is_of_the_machine(definition, solution, monkeypatch):
    monkeypatch.setattr(cuda_libraries, "_driver", lambda: None)
    calling = {"main.cpp": 'extern "C" int cuInit(int);\nint f() { return cuInit(0); }\n'}
    with pytest.raises(BuildError, match="undefined reference to `cuInit'") as raised:
        built(definition, solution(calling, "cpp", "main.cpp::f"))
    assert "libcuda.so.1 is missing" in raised.value.hint
    assert raised.value.exit_code == 3


def test_an_entry_that_is_a_header_is_refused(definition, solution):
    with pytest.raises(BuildError, match=r"entry file a.cuh is not compiled"):
        built(definition, solution({"a.cuh": "//", "b.cu": "//"}, "cuda", "a.cuh::run"))


def test_without_a_compiler_the_machine_is_at_fault(definition, exporting, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("FICTL_NVCC", str(tmp_path / "nvcc"))
    toolchain.forget()
    with pytest.raises(BuildError, match="answer") as raised:
        built(definition, exporting())
    assert raised.value.exit_code == 3


def test_forbidden_to_compile_is_said(definition, exporting, monkeypatch):
    monkeypatch.setenv("FICTL_DISABLE_JIT", "1")
    with pytest.raises(BuildError, match="FICTL_DISABLE_JIT forbids"):
        built(definition, exporting())


@pytest.mark.parametrize(
    ("language", "binding", "mine"),
    [
        ("cuda", None, True),
        ("cpp", "tvm-ffi", True),
        ("cuda", "torch", False),
        ("python", None, False),
    ],
)
def test_it_is_for_compiled_code_without_another_binding(solution, language, binding, mine):
    made = solution({"a.cu": "//"}, language, "a.cu::run", binding=binding)
    assert TVMFFIBuilder().can_build(made) == mine
