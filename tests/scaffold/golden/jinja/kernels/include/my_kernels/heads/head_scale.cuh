// head_scale: out = x * weight * factor, element by element of rows of a fixed length, in fp32 and
// rounded once.
//
// Config holds what is fixed when the module is built: the element type, the length of a row, and
// the elements of a vector. launcher.cu has it from config.inc, which jit.py renders.
//
// Traffic: every element is read once and written once; weight is read by every row, from L1. The
// limit is the memory's bandwidth.
//
// Tiling: one vector of 16 bytes of each tensor a thread, and as many threads as there are vectors.
// 2048 threads per SM keep 32 KiB in flight, where about 25 KiB cover the latency of HBM. As a row
// has a fixed number of vectors, finding a thread's place is a shift or a multiplication, where a
// division would be tens of instructions.
//
// Where a pointer or a pitch is not aligned to 16 bytes, a vector is one element.
//
// out may be x: the thread that writes an element is the one that has read it.
#pragma once

#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/vec.cuh>
#include <fictl/device/wide.cuh>

namespace my_kernels::heads {

namespace device = fictl::device;

constexpr int kHeadScaleThreads = 256;

__device__ inline float head_scale_value(float x, float weight, float factor) {
  return x * weight * factor;
}

// Row strides (pitches) in elements.
template <typename Config>
struct HeadScaleArgs {
  using T = typename Config::T;
  T* out;
  const T* x;
  const T* weight;
  float factor;
  int64_t rows;
  int64_t out_pitch;
  int64_t x_pitch;
};

// Loads what all rows share through L1. Why not __ldg: under programmatic dependent launch L1 may
// hold what was there before the kernel that this one waited for, and only an ordinary load is sure
// to see that kernel's.
template <int N, typename T>
__device__ device::Vec<T, N> head_scale_shared(const T* from) {
  device::Vec<T, N> vec;
  vec.bits() = __ldca(reinterpret_cast<const typename device::Vec<T, N>::Bits*>(from));
  return vec;
}

// A vector of N elements a thread; pointers and pitches are multiples of it.
template <typename Config, int N>
__global__ void __launch_bounds__(kHeadScaleThreads) HeadScaleKernel(HeadScaleArgs<Config> args) {
  using T = typename Config::T;
  constexpr int kVecs = Config::kCols / N;  // of a row
  const int64_t block = blockIdx.x;
  const int64_t index = block * kHeadScaleThreads + threadIdx.x;
  const int64_t row = index / kVecs;
  const int col = static_cast<int>(index - row * kVecs) * N;
  device::pdl_wait();
  device::pdl_trigger();
  if (row >= args.rows) return;
  device::Vec<T, N> x_vec = device::load_l2<N>(args.x + row * args.x_pitch + col);
  device::Vec<T, N> weight_vec = head_scale_shared<N>(args.weight + col);
  device::Vec<T, N> out_vec;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const auto value =
        head_scale_value(device::widen(x_vec[i]), device::widen(weight_vec[i]), args.factor);
    out_vec[i] = device::narrow<T>(value);
  }
  device::store_l2(args.out + row * args.out_pitch + col, out_vec);
}

template <typename Config, int N>
cudaError_t LaunchHeadScale(device::LaunchConfig config, const HeadScaleArgs<Config>& args) {
  const int64_t vecs = args.rows * (Config::kCols / N);
  config.block = dim3(kHeadScaleThreads);
  config.grid = dim3(device::ceil_div(vecs, kHeadScaleThreads));
  return device::launch<HeadScaleKernel<Config, N>>(config, args);
}

// `pdl`: use programmatic dependent launch where the GPU supports it.
template <typename Config>
cudaError_t HeadScale(const HeadScaleArgs<Config>& args, cudaStream_t stream = nullptr,
                      bool pdl = false) {
  if (args.rows == 0) return cudaSuccess;
  constexpr int N = Config::kVec;
  bool aligned = device::vec_aligned(args.out) && args.out_pitch % N == 0;
  aligned &= device::vec_aligned(args.x) && args.x_pitch % N == 0;
  aligned &= device::vec_aligned(args.weight);

  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  return aligned ? LaunchHeadScale<Config, N>(config, args)
                 : LaunchHeadScale<Config, 1>(config, args);
}

}  // namespace my_kernels::heads
