// swiglu: out = x * sigmoid(gate), element by element, in fp32 and rounded once.
//
// Traffic: every element is read once and written once. Nothing is reused, so the limit is the
// memory's bandwidth.
//
// Tiling: one vector of 16 bytes of each input a thread, and as many threads as there are vectors.
// 2048 threads per SM keep 32 KiB in flight, where about 25 KiB cover the latency of HBM. More
// vectors a thread are slower: on an H200, a copy of 128 MiB takes 64.0 us with one, as cudaMemcpy
// does, and 66.3 us with two or four, 69.0 us where those four are marked to leave L2 first.
//
// Rows at a stride: the same, with vectors numbered through all rows; a division finds the row. The
// end of a row that fills no vector goes element by element. If a pointer or a pitch is not aligned
// to 16 bytes, a vector is one element and a thread takes several, all loads first.
//
// The output may be an input: the thread that writes an element is the one that has read it.
#pragma once

#include <fictl/device/functions.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/vec.cuh>
#include <fictl/device/wide.cuh>

namespace my_kernels::elementwise {

namespace device = fictl::device;

constexpr int kSwigluThreads = 256;

__device__ inline float swiglu_value(float x, float gate) { return x * device::sigmoid(gate); }

template <typename T>
__device__ T swiglu_element(T x, T gate) {
  return device::narrow<T>(swiglu_value(device::widen(x), device::widen(gate)));
}

template <typename T, int N>
__device__ device::Vec<T, N> swiglu_vec(device::Vec<T, N> x, device::Vec<T, N> gate) {
  device::Vec<T, N> out;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    out[i] = swiglu_element(x[i], gate[i]);
  }
  return out;
}

// n elements; all pointers aligned to a vector of N.
template <typename T, int N>
__global__ void __launch_bounds__(kSwigluThreads)
    SwigluKernel(T* out, const T* x, const T* gate, int64_t n) {
  const int64_t at = (static_cast<int64_t>(blockIdx.x) * kSwigluThreads + threadIdx.x) * N;
  device::pdl_wait();
  device::pdl_trigger();
  if (at + N <= n) {
    device::store_l2(out + at, swiglu_vec(device::load_l2<N>(x + at),
                                          device::load_l2<N>(gate + at)));
  } else {
#pragma unroll 1
    for (int64_t i = at; i < n; ++i) {
      out[i] = swiglu_element(x[i], gate[i]);
    }
  }
}

// Matrices of one shape, each with its own row stride (pitch); all in elements.
struct SwigluShape {
  int64_t rows;
  int64_t cols;
  int64_t out_pitch;
  int64_t x_pitch;
  int64_t gate_pitch;
};

// Pointers and pitches aligned to a vector of N; kLoads vectors a thread.
template <typename T, int N, int kLoads>
__global__ void __launch_bounds__(kSwigluThreads)
    SwigluRowsKernel(T* out, const T* x, const T* gate, SwigluShape shape, int64_t vecs_per_row) {
  int64_t row[kLoads];
  int64_t col[kLoads];
  int64_t left[kLoads];  // elements to the end of the row
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    const int64_t block = static_cast<int64_t>(blockIdx.x) * kLoads + i;
    const int64_t index = block * kSwigluThreads + threadIdx.x;
    row[i] = shape.rows == 1 ? 0 : index / vecs_per_row;
    col[i] = (index - row[i] * vecs_per_row) * N;
    left[i] = row[i] < shape.rows ? shape.cols - col[i] : 0;
  }

  device::pdl_wait();
  device::pdl_trigger();
  device::Vec<T, N> x_vec[kLoads];
  device::Vec<T, N> gate_vec[kLoads];
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    if (left[i] < N) continue;
    x_vec[i] = device::load_l2<N>(x + row[i] * shape.x_pitch + col[i]);
    gate_vec[i] = device::load_l2<N>(gate + row[i] * shape.gate_pitch + col[i]);
  }
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    T* to = out + row[i] * shape.out_pitch + col[i];
    if (left[i] >= N) {
      device::store_l2(to, swiglu_vec(x_vec[i], gate_vec[i]));
    } else {
      const T* x_row = x + row[i] * shape.x_pitch + col[i];
      const T* gate_row = gate + row[i] * shape.gate_pitch + col[i];
#pragma unroll 1
      for (int j = 0; j < left[i]; ++j) {
        to[j] = swiglu_element(x_row[j], gate_row[j]);
      }
    }
  }
}

template <typename T, int N, int kLoads>
cudaError_t LaunchSwigluRows(device::LaunchConfig config, T* out, const T* x, const T* gate,
                             const SwigluShape& shape) {
  const int64_t vecs_per_row = device::ceil_div(shape.cols, N);
  const int64_t threads = device::ceil_div(shape.rows * vecs_per_row, kLoads);
  config.grid = dim3(device::ceil_div(threads, kSwigluThreads));
  return device::launch<SwigluRowsKernel<T, N, kLoads>>(config, out, x, gate, shape, vecs_per_row);
}

// `pdl`: use programmatic dependent launch where the GPU supports it.
template <typename T>
cudaError_t Swiglu(T* out, const T* x, const T* gate, const SwigluShape& shape,
                   cudaStream_t stream = nullptr, bool pdl = false) {
  if (shape.rows == 0 || shape.cols == 0) return cudaSuccess;
  constexpr int N = device::kVecBytes / sizeof(T);
  bool pointers_aligned = device::vec_aligned(out);
  pointers_aligned &= device::vec_aligned(x);
  pointers_aligned &= device::vec_aligned(gate);
  bool pitches_aligned = shape.out_pitch % N == 0;
  pitches_aligned &= shape.x_pitch % N == 0;
  pitches_aligned &= shape.gate_pitch % N == 0;

  device::LaunchConfig config;
  config.block = dim3(kSwigluThreads);
  config.stream = stream;
  config.pdl = pdl;
  if (shape.rows == 1 && pointers_aligned) {
    config.grid = dim3(device::ceil_div(shape.cols, N * kSwigluThreads));
    return device::launch<SwigluKernel<T, N>>(config, out, x, gate, shape.cols);
  }
  if (pointers_aligned && pitches_aligned) {
    return LaunchSwigluRows<T, N, 1>(config, out, x, gate, shape);
  }
  return LaunchSwigluRows<T, 1, 4>(config, out, x, gate, shape);
}

}  // namespace my_kernels::elementwise
