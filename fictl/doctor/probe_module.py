"""Module that is built as a probe: one kernel, one binding, none of fictl's headers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from fictl.jit import gen_jit_spec
from fictl.jit.build import plan_build
from fictl.jit.compile import compile_plan
from fictl.jit.progress import Started
from fictl.jit.store.entry import Entry
from fictl.jit.store.stores import Store

_KERNEL = """\
#include <cuda_fp16.h>

#include <cstdio>

__global__ void Fill(float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = 2.0f * i + __half2float(__float2half(0.5f));
}

static int failed(cudaError_t status) {
  if (status == cudaSuccess) return 0;
  std::printf("%s: %s\\n", cudaGetErrorName(status), cudaGetErrorString(status));
  std::fflush(stdout);
  return 1;
}

// How many values are wrong, or -1 if CUDA failed.
int fill_and_compare(int device) {
  constexpr int kCount = 1 << 16;
  static float host[kCount];
  float* out = nullptr;
  if (failed(cudaSetDevice(device)) || failed(cudaMalloc(&out, sizeof(host)))) return -1;
  Fill<<<kCount / 256, 256>>>(out, kCount);
  if (failed(cudaGetLastError())) return -1;
  if (failed(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost))) return -1;
  cudaFree(out);
  int wrong = 0;
  for (int i = 0; i < kCount; ++i) wrong += host[i] != 2.0f * i + 0.5f;
  return wrong;
}
"""

# Why tvm-ffi's C interface: it compiles in a tenth of the time of its C++ interface.
_BINDING = """\
#include <tvm/ffi/c_api.h>

int fill_and_compare(int device);

extern "C" __attribute__((visibility("default"))) int __tvm_ffi_launch(
    void*, const TVMFFIAny* arguments, int32_t, TVMFFIAny* result) {
  result->type_index = kTVMFFIInt;
  result->v_int64 = fill_and_compare(static_cast<int>(arguments[0].v_int64));
  return 0;
}
"""


@dataclass(frozen=True)
class Silent:
    """Build observer that ignores everything."""

    verbose: bool = False

    def started(self, build: Started) -> None:
        pass

    def advanced(self, done: int, total: int, what: str) -> None:
        pass

    def finished(self, module: str, seconds: float, why: str = "") -> None:
        pass

    def note(self, text: str) -> None:
        pass

    def command(self, line: str) -> None:
        pass


def build_probe(folder: Path) -> Entry:
    """Build the probe like a real module, by the same plan, ninja and publication, in a new store."""
    sources = {folder / "kernel.cu": _KERNEL, folder / "binding.cpp": _BINDING}
    for path, text in sources.items():
        path.write_text(text, encoding="utf-8")
    spec = replace(gen_jit_spec("probe", list(sources)), fallback_archs="7.5", device="cuda")
    return compile_plan(plan_build(spec), Store(folder / "store", writable=True), Silent())
