// act_and_mul: output = activation(gate) * up, where a row of the input is gate and up side by
// side; in fp32, rounded once.
//
// Traffic: every element is read once and written once. Nothing is reused, so the limit is the
// memory's bandwidth.
//
// Tiling: one vector of 16 bytes of gate and the same of up a thread, both loaded before either is
// used, and as many threads as there are vectors in the output. Even 1024 threads per SM keep 32
// KiB in flight, which covers the latency of HBM. A row has blocks of its own, or shares one with
// others, so that a thread finds its vectors by two multiplications: on an H200, a division instead
// takes 0.1 of the 2.75 us of 64 rows of 14336, and 11 of the 331 of gelu for 16384. Blocks of 64
// threads are slower by 70 %, those of 128 by 7 % where a row has fewer than 128 vectors.
//
// Arithmetic: at 4.3 TB/s an SM of an H200 has some 40 instructions an output of 16 bits. The
// activations are written for 10 to 20, two of them special functions.
//
// up starts where gate ends. So a pointer, a pitch or a hidden size that is a multiple of 8 bytes
// only allows vectors of 8, and any other goes element by element; a thread then takes two or four,
// for as many loads in flight.
//
// output may lie on gate or on up: the thread that writes an element is the one that has read both.
#pragma once

#include <fictl/activation/functors.cuh>
#include <fictl/device/convert.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/row_units.cuh>
#include <fictl/device/vec.cuh>

namespace fictl::activation {

constexpr int kActAndMulThreads = 256;
constexpr int64_t kActAndMulMostVecs = 1 << 30;  // a row, which are numbered by int

// Sizes and strides in elements; a row of the input has 2 * hidden.
struct ActAndMulShape {
  int64_t rows;
  int64_t hidden;
  int64_t input_pitch;
  int64_t output_pitch;
};

template <typename Activation, typename T, int N>
__device__ device::Vec<T, N> act_and_mul(const device::Vec<T, N>& gate,
                                         const device::Vec<T, N>& up) {
  float x[N];
  float factors[N];
  device::to_float(gate, x);
  device::to_float(up, factors);
#pragma unroll
  for (int i = 0; i < N; ++i) x[i] = Activation::of(x[i]) * factors[i];
  return device::from_float<T>(x);
}

// kVecs vectors a thread. Pointers, pitches and hidden size are multiples of N.
template <typename Activation, typename T, int N, int kVecs>
__global__ void __launch_bounds__(kActAndMulThreads)
    ActAndMulKernel(const T* input, T* output, ActAndMulShape shape, device::RowUnits<kVecs> vecs) {
  using Vec = device::Vec<T, N>;
  typename device::RowUnits<kVecs>::Unit at[kVecs];
#pragma unroll
  for (int i = 0; i < kVecs; ++i) at[i] = vecs.mine(i);

  device::pdl_wait();
  device::pdl_trigger();
  Vec gate[kVecs];
  Vec up[kVecs];
#pragma unroll
  for (int i = 0; i < kVecs; ++i) {
    if (!at[i].exists) continue;
    const T* from = input + at[i].row * shape.input_pitch + int64_t{at[i].unit} * N;
    gate[i] = device::load_l2<N>(from);
    up[i] = device::load_l2<N>(from + shape.hidden);
  }
#pragma unroll
  for (int i = 0; i < kVecs; ++i) {
    if (!at[i].exists) continue;
    T* to = output + at[i].row * shape.output_pitch + int64_t{at[i].unit} * N;
    device::store_l2(to, act_and_mul<Activation>(gate[i], up[i]));
  }
}

template <typename Activation, typename T, int N, int kVecs>
cudaError_t LaunchActAndMul(device::LaunchConfig config, const T* input, T* output,
                            const ActAndMulShape& shape) {
  const int64_t vecs_a_row = shape.hidden / N;
  if (vecs_a_row > kActAndMulMostVecs) return cudaErrorInvalidValue;
  const device::RowUnits<kVecs> vecs(shape.rows, static_cast<int>(vecs_a_row), kActAndMulThreads);
  config.grid = vecs.grid();
  config.block = vecs.block();
  return device::launch<ActAndMulKernel<Activation, T, N, kVecs>>(config, input, output, shape,
                                                                  vecs);
}

// `pdl`: use programmatic dependent launch where the GPU supports it.
template <typename Activation, typename T>
cudaError_t ActAndMul(const T* input, T* output, const ActAndMulShape& shape,
                      cudaStream_t stream = nullptr, bool pdl = false) {
  if (shape.rows == 0 || shape.hidden == 0) return cudaSuccess;
  constexpr int N = device::kVecBytes / sizeof(T);
  // The lowest bits of all addresses and strides that must be multiples of a vector's bytes.
  const int64_t elements = shape.hidden | shape.input_pitch | shape.output_pitch;
  const uint64_t bytes = reinterpret_cast<uintptr_t>(input) | reinterpret_cast<uintptr_t>(output) |
                         static_cast<uint64_t>(elements) * sizeof(T);

  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  if (bytes % device::kVecBytes == 0) {
    return LaunchActAndMul<Activation, T, N, 1>(config, input, output, shape);
  }
  if (bytes % (device::kVecBytes / 2) == 0) {
    return LaunchActAndMul<Activation, T, N / 2, 2>(config, input, output, shape);
  }
  return LaunchActAndMul<Activation, T, 1, 4>(config, input, output, shape);
}

}  // namespace fictl::activation
