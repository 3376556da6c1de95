// scale: out = input * factor, element by element, in fp32 and rounded once.
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

#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/vec.cuh>
#include <fictl/device/wide.cuh>

namespace fictl::elementwise {

constexpr int kScaleThreads = 256;

__device__ inline float scale_value(float input, float factor) { return input * factor; }

template <typename T>
__device__ T scale_element(T input, float factor) {
  return device::narrow<T>(scale_value(device::widen(input), factor));
}

template <typename T, int N>
__device__ device::Vec<T, N> scale_vec(device::Vec<T, N> input, float factor) {
  device::Vec<T, N> out;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    out[i] = scale_element(input[i], factor);
  }
  return out;
}

// n elements; all pointers aligned to a vector of N.
template <typename T, int N>
__global__ void __launch_bounds__(kScaleThreads)
    ScaleKernel(T* out, const T* input, float factor, int64_t n) {
  const int64_t at = (static_cast<int64_t>(blockIdx.x) * kScaleThreads + threadIdx.x) * N;
  device::pdl_wait();
  device::pdl_trigger();
  if (at + N <= n) {
    device::store_l2(out + at, scale_vec(device::load_l2<N>(input + at), factor));
  } else {
#pragma unroll 1
    for (int64_t i = at; i < n; ++i) {
      out[i] = scale_element(input[i], factor);
    }
  }
}

// Matrices of one shape, each with its own row stride (pitch); all in elements.
struct ScaleShape {
  int64_t rows;
  int64_t cols;
  int64_t out_pitch;
  int64_t input_pitch;
};

// Pointers and pitches aligned to a vector of N; kLoads vectors a thread.
template <typename T, int N, int kLoads>
__global__ void __launch_bounds__(kScaleThreads)
    ScaleRowsKernel(T* out, const T* input, float factor, ScaleShape shape, int64_t vecs_per_row) {
  int64_t row[kLoads];
  int64_t col[kLoads];
  int64_t left[kLoads];  // elements to the end of the row
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    const int64_t block = static_cast<int64_t>(blockIdx.x) * kLoads + i;
    const int64_t index = block * kScaleThreads + threadIdx.x;
    row[i] = shape.rows == 1 ? 0 : index / vecs_per_row;
    col[i] = (index - row[i] * vecs_per_row) * N;
    left[i] = row[i] < shape.rows ? shape.cols - col[i] : 0;
  }

  device::pdl_wait();
  device::pdl_trigger();
  device::Vec<T, N> input_vec[kLoads];
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    if (left[i] < N) continue;
    input_vec[i] = device::load_l2<N>(input + row[i] * shape.input_pitch + col[i]);
  }
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    T* to = out + row[i] * shape.out_pitch + col[i];
    if (left[i] >= N) {
      device::store_l2(to, scale_vec(input_vec[i], factor));
    } else {
      const T* input_row = input + row[i] * shape.input_pitch + col[i];
#pragma unroll 1
      for (int j = 0; j < left[i]; ++j) {
        to[j] = scale_element(input_row[j], factor);
      }
    }
  }
}

template <typename T, int N, int kLoads>
cudaError_t LaunchScaleRows(device::LaunchConfig config, T* out, const T* input, float factor,
                            const ScaleShape& shape) {
  const int64_t vecs_per_row = device::ceil_div(shape.cols, N);
  const int64_t threads = device::ceil_div(shape.rows * vecs_per_row, kLoads);
  config.grid = dim3(device::ceil_div(threads, kScaleThreads));
  return device::launch<ScaleRowsKernel<T, N, kLoads>>(config, out, input, factor, shape,
                                                       vecs_per_row);
}

// `pdl`: use programmatic dependent launch where the GPU supports it.
template <typename T>
cudaError_t Scale(T* out, const T* input, float factor, const ScaleShape& shape,
                  cudaStream_t stream = nullptr, bool pdl = false) {
  if (shape.rows == 0 || shape.cols == 0) return cudaSuccess;
  constexpr int N = device::kVecBytes / sizeof(T);
  bool pointers_aligned = device::vec_aligned(out);
  pointers_aligned &= device::vec_aligned(input);
  bool pitches_aligned = shape.out_pitch % N == 0;
  pitches_aligned &= shape.input_pitch % N == 0;

  device::LaunchConfig config;
  config.block = dim3(kScaleThreads);
  config.stream = stream;
  config.pdl = pdl;
  if (shape.rows == 1 && pointers_aligned) {
    config.grid = dim3(device::ceil_div(shape.cols, N * kScaleThreads));
    return device::launch<ScaleKernel<T, N>>(config, out, input, factor, shape.cols);
  }
  if (pointers_aligned && pitches_aligned) {
    return LaunchScaleRows<T, N, 1>(config, out, input, factor, shape);
  }
  return LaunchScaleRows<T, 1, 4>(config, out, input, factor, shape);
}

}  // namespace fictl::elementwise
