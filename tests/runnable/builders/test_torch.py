"""Solutions with torch's binding: compiled by torch's loader in a process of its own, and kept."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from fictl.process import Finished
from fictl.runnable import BuilderRegistry, BuildError, extension
from fictl.runnable.builders import TorchBuilder

# Python's own C API: torch/extension.h takes half a minute to compile.
NATIVE = """
#include <Python.h>
#include "config.h"

static PyObject* run(PyObject*, PyObject* args) {
  PyObject *x, *s, *y;
  if (!PyArg_ParseTuple(args, "OOO", &x, &s, &y)) return nullptr;
  PyObject* product = PyNumber_Multiply(x, s);
  if (!product) return nullptr;
  PyObject* copied = PyObject_CallMethod(y, "copy_", "O", product);
  Py_DECREF(product);
  if (!copied) return nullptr;
  Py_DECREF(copied);
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {{ENTRY, run, METH_VARARGS, ""}, {nullptr, nullptr, 0, nullptr}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "m", "", -1, methods};
#define JOIN(a, b) a##b
#define INIT(name) JOIN(PyInit_, name)
PyMODINIT_FUNC INIT(TORCH_EXTENSION_NAME)(void) { return PyModule_Create(&module); }
"""
REAL = """
#include <ATen/cuda/CUDAContext.h>
#include <torch/extension.h>
__global__ void scale(const float* x, float s, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * s;
}
torch::Tensor run(torch::Tensor x, double s) {
  auto y = torch::empty_like(x);
  int n = x.numel();
  scale<<<(n + 127) / 128, 128, 0, at::cuda::getCurrentCUDAStream()>>>(
      x.data_ptr<float>(), s, y.data_ptr<float>(), n);
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
"""
X = torch.arange(4.0)


@pytest.fixture
def native(solution):
    def make(text=NATIVE, **options):
        files = {"src/main.cpp": text, "include/config.h": '#define ENTRY "run"\n'}
        flags = {"cflags": ["-O0", "-Iinclude"], "cuda_cflags": [], "ld_flags": []}
        options = {"binding": "torch", "dps": True, "compile_options": flags, **options}
        return solution(files, "cpp", "src/main.cpp::run", **options)

    return make


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """Where the one build of these tests is kept."""
    return tmp_path_factory.mktemp("extensions")


@pytest.fixture
def cached(everything, monkeypatch):
    monkeypatch.setenv("FICTL_CACHE_PATH", str(everything))


def test_it_is_compiled_once_and_kept(definition, native, cached, monkeypatch, capfd):
    runnable = TorchBuilder().build(definition, native())
    assert torch.equal(runnable(x=X, s=2.0), X * 2)
    assert runnable.metadata.build_type == "torch"
    assert capfd.readouterr().out == ""
    folder = Path(runnable.metadata.misc["binary"]).parent
    assert {path.name for path in folder.iterdir()} == {"module.so", "manifest.json"}
    monkeypatch.setattr(extension, "stream", None)
    again = TorchBuilder().build(definition, native())
    assert again.metadata.misc["binary"] == runnable.metadata.misc["binary"]


def test_another_name_than_it_has_is_said(definition, native, cached, monkeypatch):
    made = native()
    monkeypatch.setattr(type(made), "get_entry_symbol", lambda _: "walk")
    with pytest.raises(BuildError, match=r"src/main.cpp defines no walk") as raised:
        TorchBuilder().build(definition, made)
    assert raised.value.hint == "it defines run"


def test_what_is_broken_is_built_again(definition, native, cached, monkeypatch):
    binary = Path(TorchBuilder().build(definition, native()).metadata.misc["binary"])
    good, asked = binary.read_bytes(), []

    def restore(self):
        asked.append(self.title)
        self.folder.mkdir()
        self.binary.write_bytes(good)

    monkeypatch.setattr(extension.Extension, "build", restore)
    binary.with_name("manifest.json").write_text("[]")
    assert TorchBuilder().build(definition, native())
    assert asked == ["answer"]


def test_what_the_compiler_says_is_the_error(definition, native, kept, monkeypatch):
    said = (
        "[1/2] c++ -c\nFAILED: main.o\nc++ {src}/src/main.cpp\n{src}/src/main.cpp:3:1: error: no\n"
    )

    def refused(argv, on_line, env):
        src = next(kept.glob("torch/torch_answer_*/src"))
        return Finished(tuple(argv), 1, said.format(src=src), 1.0)

    monkeypatch.setattr(extension, "stream", refused)
    with pytest.raises(
        BuildError, match=r"answer does not build: src/main.cpp:3:1: error: no"
    ) as e:
        TorchBuilder().build(definition, native())
    assert e.value.first_error == "src/main.cpp:3:1: error: no"
    assert "FAILED: main.o" in e.value.log
    assert [path.name for path in kept.glob("torch/*/*")] == ["src"]


@pytest.mark.parametrize(("device", "said"), [("emu", "emulated device"), ("cuda", "without CUDA")])
def test_cuda_needs_a_gpu(definition, solution, kept, monkeypatch, device, said):
    monkeypatch.setenv("FICTL_DEVICE", device)
    monkeypatch.setattr(torch.version, "cuda", None)
    made = solution({"main.cu": REAL}, "cuda", "main.cu::run", binding="torch")
    with pytest.raises(BuildError, match=said) as raised:
        TorchBuilder().build(definition, made)
    assert raised.value.exit_code == 3


def test_forbidden_to_compile_is_said(definition, native, kept, monkeypatch):
    monkeypatch.setenv("FICTL_DISABLE_JIT", "1")
    with pytest.raises(BuildError, match="FICTL_DISABLE_JIT forbids"):
        TorchBuilder().build(definition, native())


def test_an_entry_that_is_no_cpp_is_refused(definition, solution):
    made = solution({"a.h": "//"}, "cpp", "a.h::run", binding="torch")
    with pytest.raises(BuildError, match=r"entry file a.h is not compiled"):
        TorchBuilder().build(definition, made)


def test_it_is_for_the_binding_of_torch(native, exporting):
    assert TorchBuilder().can_build(native())
    assert not TorchBuilder().can_build(exporting())


@pytest.mark.needs_gpu
def test_cuda_runs_on_a_gpu(definition, solution, kept):
    made = solution({"main.cu": REAL}, "cuda", "main.cu::run", binding="torch")
    runnable = BuilderRegistry.get_instance().build(definition, made)
    x = X.cuda()
    assert torch.equal(runnable(x=x, s=2.0), x * 2)
