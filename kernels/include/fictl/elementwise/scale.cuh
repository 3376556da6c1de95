// scale: output = input * factor, element by element, multiplied in fp32 and rounded once.
//
// Traffic: every element is read once and written once. Nothing is reused, so the kernel is a copy
// with one multiply, and its limit is the memory's bandwidth.
//
// Tiling: one vector of 16 bytes a thread, and as many threads as there are vectors. 2048 threads
// per SM keep 32 KiB in flight, where about 25 KiB cover the latency of HBM. More vectors a thread
// are slower: on an H200, 128 MiB take 64.0 us with one, as with cudaMemcpy, and 66.3 us with two
// or four, 69.0 us where those four are marked to leave L2 first.
//
// Rows at a pitch: the same, with vectors numbered through all rows; a division finds the row. The
// end of a row that fills no vector goes element by element. Where a pointer or a pitch is not
// aligned to 16 bytes, a vector is one element and a thread takes several, all loads first.
//
// output may be input: the thread that writes an element is the one that has read it.
#pragma once

#include <fictl/device/element.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/vec.cuh>

namespace fictl::elementwise {

constexpr int kScaleThreads = 256;

template <typename T>
__device__ T scaled(T x, float factor) {
  return device::Element<T>::from_float(device::Element<T>::to_float(x) * factor);
}

template <typename T, int N>
__device__ device::Vec<T, N> scaled(device::Vec<T, N> vec, float factor) {
#pragma unroll
  for (int i = 0; i < N; ++i) vec[i] = scaled(vec[i], factor);
  return vec;
}

// n elements; both pointers aligned to a vector of N.
template <typename T, int N>
__global__ void __launch_bounds__(kScaleThreads)
    ScaleKernel(const T* input, T* output, float factor, int64_t n) {
  const int64_t at = (static_cast<int64_t>(blockIdx.x) * kScaleThreads + threadIdx.x) * N;
  device::pdl_wait();
  device::pdl_trigger();
  if (at + N <= n) {
    device::store_l2(output + at, scaled(device::load_l2<N>(input + at), factor));
  } else {
#pragma unroll 1
    for (int64_t i = at; i < n; ++i) output[i] = scaled(input[i], factor);
  }
}

// Two matrices of one shape, each with its own distance from row to row; all in elements.
struct ScaleShape {
  int64_t rows;
  int64_t cols;
  int64_t input_pitch;
  int64_t output_pitch;
};

// Pointers and pitches aligned to a vector of N; kLoads vectors a thread.
template <typename T, int N, int kLoads>
__global__ void __launch_bounds__(kScaleThreads)
    ScaleRowsKernel(const T* input, T* output, float factor, ScaleShape shape,
                    int64_t vecs_per_row) {
  const T* from[kLoads];
  T* to[kLoads];
  int64_t left[kLoads];  // elements to the end of the row
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    const int64_t block = static_cast<int64_t>(blockIdx.x) * kLoads + i;
    const int64_t index = block * kScaleThreads + threadIdx.x;
    const int64_t row = shape.rows == 1 ? 0 : index / vecs_per_row;
    const int64_t col = (index - row * vecs_per_row) * N;
    from[i] = input + row * shape.input_pitch + col;
    to[i] = output + row * shape.output_pitch + col;
    left[i] = row < shape.rows ? shape.cols - col : 0;
  }

  device::pdl_wait();
  device::pdl_trigger();
  device::Vec<T, N> vec[kLoads];
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    if (left[i] >= N) vec[i] = device::load_l2<N>(from[i]);
  }
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    if (left[i] >= N) {
      device::store_l2(to[i], scaled(vec[i], factor));
    } else {
#pragma unroll 1
      for (int j = 0; j < left[i]; ++j) to[i][j] = scaled(from[i][j], factor);
    }
  }
}

template <typename T, int N, int kLoads>
cudaError_t LaunchScaleRows(device::LaunchConfig config, const T* input, T* output, float factor,
                            const ScaleShape& shape) {
  const int64_t vecs_per_row = device::ceil_div(shape.cols, N);
  const int64_t threads = device::ceil_div(shape.rows * vecs_per_row, kLoads);
  config.grid = dim3(device::ceil_div(threads, kScaleThreads));
  return device::launch<ScaleRowsKernel<T, N, kLoads>>(config, input, output, factor, shape,
                                                       vecs_per_row);
}

// With `pdl` the kernel starts while its predecessor on the stream ends, where the GPU can.
template <typename T>
cudaError_t Scale(const T* input, T* output, float factor, const ScaleShape& shape,
                  cudaStream_t stream = nullptr, bool pdl = false) {
  if (shape.rows == 0 || shape.cols == 0) return cudaSuccess;
  constexpr int N = device::kVecBytes / sizeof(T);
  const bool pointers_aligned = device::vec_aligned(input) && device::vec_aligned(output);
  const bool pitches_aligned = shape.input_pitch % N == 0 && shape.output_pitch % N == 0;

  device::LaunchConfig config;
  config.block = dim3(kScaleThreads);
  config.stream = stream;
  config.pdl = pdl;
  if (shape.rows == 1 && pointers_aligned) {
    config.grid = dim3(device::ceil_div(shape.cols, N * kScaleThreads));
    return device::launch<ScaleKernel<T, N>>(config, input, output, factor, shape.cols);
  }
  if (pointers_aligned && pitches_aligned) {
    return LaunchScaleRows<T, N, 1>(config, input, output, factor, shape);
  }
  return LaunchScaleRows<T, 1, 4>(config, input, output, factor, shape);
}

}  // namespace fictl::elementwise
