"""Kernels of tutorials, as they stand: brought along, built for the emulated device, tested."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fictl.project import Project
from fictl.scaffold.new.new_op import draft, plan_op
from fictl.scaffold.new.request import NewOpRequest
from fictl.scaffold.plan.write import apply

ROOT = Path(__file__).resolve().parents[4]

_SCALE = """\
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace tutorial {

template <typename T>
__global__ void ScaleKernel(const T* input, T* output, T factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    output[i] = input[i] * factor;
  }
}

template <typename T>
cudaError_t ScaleLauncher(const T* input, T* output, T factor, int n,
                          cudaStream_t stream = nullptr) {
  const int threads = 256;
  const int blocks = (n + threads - 1) / threads;
  ScaleKernel<T><<<blocks, threads, 0, stream>>>(input, output, factor, n);
  return cudaGetLastError();
}

}  // namespace tutorial
"""
_SWIGLU = """\
#ifndef ACTIVATION_CUH_
#define ACTIVATION_CUH_

#include <cuda_runtime.h>

template <typename T>
__device__ __forceinline__ T swiglu(T x, T gate) {
  T opened = T(1.0) / (T(1.0) + expf(-float(gate)));
  return x * opened;
}

template <typename T>
__global__ void SwiGLUKernel(const T* __restrict__ x, const T* __restrict__ gate,
                             T* __restrict__ output, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    output[i] = swiglu(x[i], gate[i]);
  }
}

#endif  // ACTIVATION_CUH_
"""
# Summed in double: fp32 sums that cancel may miss the default tolerance with some random numbers.
_ROWS = """\
template <typename T, int kThreads>
__global__ void __launch_bounds__(kThreads)
    MeanKernel(const T* x, const int* counted, T* means, float* sums, int hidden) {
  __shared__ double part[kThreads];
  const T* row = x + static_cast<int64_t>(blockIdx.x) * hidden;
  double sum = 0.0;
  for (int i = threadIdx.x; i < hidden; i += kThreads) sum += static_cast<double>(row[i]);
  part[threadIdx.x] = counted[blockIdx.x] != 0 ? sum : 0.0;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < kThreads; ++i) part[0] += part[i];
  sums[blockIdx.x] = static_cast<float>(part[0]);
  means[blockIdx.x] = T(static_cast<float>(part[0] / hidden));
}
"""
# Two defects: pairs of values, whatever the row's length is, and half of the blocks that it needs.
_PAIRS = """\
__global__ void PairsKernel(const float* x, float* sums, int hidden) {
  if (threadIdx.x != 0) return;
  const float* row = x + static_cast<int64_t>(blockIdx.x) * hidden;
  float sum = 0.0f;
  for (int i = 0; i < hidden; i += 2) sum += row[i] + row[i + 1];
  sums[blockIdx.x] = sum;
}
"""
_REFERENCES = """\
import torch


def swiglu(x, gate):
    return x * torch.sigmoid(gate)


def means(x: "rows hidden", counted: "rows") -> ("rows", "rows"):
    sums = x.sum(-1) * (counted != 0)
    return sums / x.shape[-1], sums
"""


@pytest.fixture
def files(project: Project) -> Path:
    """Beside the project's kernels."""
    for name, text in (
        ("scale.cuh", _SCALE),
        ("activation.cuh", _SWIGLU),
        ("rows.cu", _ROWS),
        ("pairs.cu", _PAIRS),
    ):
        (project.root / name).write_text(text)
    (project.root / "ref.py").write_text(_REFERENCES)
    # Why one architecture: what is written for a kernel does not depend on it.
    (project.root / "fictl.toml").write_text('name = "my_kernels"\narchs = "9.0a"\n')
    return project.root


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("scale", {"kernel": "scale.cuh:ScaleLauncher", "expression": "input * factor"}),
        (
            "swiglu",
            {
                "kernel": "activation.cuh:SwiGLUKernel",
                "reference": "ref.py:swiglu",
                "dtypes": "f32",
            },
        ),
        (
            "means",
            {
                "kernel": "rows.cu:MeanKernel<T,64>",
                "reference": "ref.py:means",
                "inputs": ("x:rows,hidden", "counted:rows:i32"),
                "outputs": ("means:rows", "sums:rows:f32"),
            },
        ),
    ],
)
def test_a_brought_kernel_is_green_untouched(
    name: str, said: dict[str, str], project: Project, files: Path, users_cache: None
) -> None:
    apply(plan_op(draft(project, NewOpRequest(name, **said))), "fictl new-op")
    for words in (("check",), ("test", name, "--device", "emu", "--schedule", "forward")):
        done = _fictl(project, *words)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.timeout(600)
def test_a_read_past_odd_rows_and_a_launch_that_is_too_small_are_found(
    project: Project, files: Path, users_cache: None
) -> None:
    request = NewOpRequest(
        "pairs",
        kernel="pairs.cu:PairsKernel",
        expression="sum(x)",
        inputs=("x:rows,hidden",),
        outputs=("sums:rows",),
        grid="ceil_div(rows, 2)",
        block="32",
    )
    apply(plan_op(draft(project, request)), "fictl new-op")
    words = ("--device", "emu", "--schedule", "forward", "-k", "test_tiny_odd")
    done = _fictl(project, "test", "pairs", *words)
    assert done.returncode == 1
    assert "sums: 1 of 1 elements differ; worst at (0,): nan, reference" in done.stdout
    assert "1 element was never written (or only added to), the first at (2,)" in done.stdout


def _fictl(project: Project, *words: str) -> subprocess.CompletedProcess[str]:
    path = f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    return subprocess.run(
        [sys.executable, "-m", "fictl", *words],
        cwd=project.root,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
