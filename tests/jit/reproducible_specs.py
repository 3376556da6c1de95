"""Small modules of each kind, for tests/perf/reproducible.py: what names or paths may get into."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from fictl.jit import JitSpec, gen_jit_spec
from fictl.jit.module_spec import Template

_HEADER = """
#pragma once
#include <cassert>
inline const char* here() { return __FILE__; }
inline const char* when() { return __DATE__ __TIME__ __TIMESTAMP__; }
"""
_PLAIN = """
#include "here.h"
#include "launcher.h"
__global__ void check(int* out) { assert(out != nullptr); out[0] = 1; }
const char* launch(int* out) { check<<<1, 1>>>(out); return out ? here() : when(); }
"""
_UNNAMED = """
#include "launcher.h"
namespace {
__device__ int counter;
__global__ void count(int* out) { out[0] = atomicAdd(&counter, 1); }
}
const char* launch(int* out) { count<<<1, 1>>>(out); return ""; }
"""
# No definition of its own: nvcc has nothing to name its kernels after.
_INSTANCES = """
#include "launcher.h"
namespace { __global__ void fill(int* out) { out[0] = 2; } }
template <class T> const char* launch_of(T* out) { fill<<<1, 1>>>(out); return ""; }
template const char* launch_of<int>(int*);
"""
_CALLER = """
#include "launcher.h"
template <class T> const char* launch_of(T* out);
const char* launch(int* out) { return launch_of<int>(out); }
"""
_HOPPER = """
#include "launcher.h"
#if defined(__CUDA_ARCH__) && defined(__CUDA_ARCH_FEAT_SM90_ALL)
__global__ void fence() { asm volatile("wgmma.fence.sync.aligned;"); }
#else
__global__ void fence() {}
#endif
const char* launch(int*) { fence<<<1, 1>>>(); return ""; }
"""
_RENDERED = """
#include "config.inc"
#include "launcher.h"
__global__ void scaled(int* out) { out[0] = FACTOR; }
const char* launch(int* out) { scaled<<<1, 1>>>(out); return ""; }
"""
_BINDING = """
#include <tvm/ffi/tvm_ffi.h>
#include "launcher.h"
static tvm::ffi::String where() {
  if (launch(nullptr) == nullptr) TVM_FFI_THROW(ValueError) << "nowhere";
  return launch(nullptr);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(where, where);
"""
# Without tvm-ffi's templates, which are most of a small module's compile time: one kind has them.
_PLAIN_BINDING = """
#include <tvm/ffi/c_api.h>
#include "launcher.h"
extern "C" __attribute__((visibility("default"))) int __tvm_ffi_where(
    void*, const TVMFFIAny*, int32_t, TVMFFIAny* result) {
  result->type_index = kTVMFFIBool;
  result->v_int64 = launch(nullptr) != nullptr;
  return 0;
}
"""
_PARTS = {
    "plain": {"launcher.cu": _PLAIN, "here.h": _HEADER},
    "unnamed": {"the launcher.cu": _UNNAMED},
    "instances": {"instances.cu": _INSTANCES, "launcher.cu": _CALLER},
    "hopper": {"launcher.cu": _HOPPER},
    "rendered": {"launcher.cu": _RENDERED},
}


def specs(folder: Path) -> Iterator[JitSpec]:
    """Write the sources into a folder; yield a spec of each kind."""
    for kind, files in _PARTS.items():
        op = folder / kind
        op.mkdir(parents=True)
        binding = _BINDING if kind == "plain" else _PLAIN_BINDING
        texts = {**files, "binding.cpp": binding, "launcher.h": "const char* launch(int* out);\n"}
        for name, text in texts.items():
            (op / name).write_text(text, encoding="utf-8")
        sources = [op / name for name in texts if name.endswith((".cu", ".cpp"))]
        yield _with_template(gen_jit_spec(f"kinds.{kind}", sources), op, kind)


def _with_template(spec: JitSpec, op: Path, kind: str) -> JitSpec:
    if kind != "rendered":
        return spec
    (op / "config.jinja").write_text("#define FACTOR {{ factor }}\n", encoding="utf-8")
    return replace(spec, template=Template(op / "config.jinja", "config.inc", {"factor": 3}))
