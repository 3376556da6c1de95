// fused_rmsnorm_silu: y = input / sqrt(mean(input^2) + eps) * weight, output = y / (1 + exp(-y)),
// row by row, in fp32 and rounded once: to the input's type, to e4m3, or to e2m1 with a scale in
// e4m3 for every 16 values (NVFP4, scales in rows as the values).
//
// Algorithm: the threads of a row add up its squares, agree on the sum, and finish what they hold.
// For e2m1, the two threads that hold a block of 16 find its largest value; the block's scale is a
// sixth of it, rounded, and the values are divided by the rounded one, so that value times scale is
// as near as e2m1 can be.
//
// Traffic: a row is read once and written once; between the two it waits in registers. The weight
// is read by every row, from L1. All loads of a thread, its weights too, are issued before the
// first value is used. The limit is the memory's bandwidth.
//
// Tiling, for the short rows of convolutions (64 to 1024 channels) before all:
//   up to 512    Rows share a block, 8 to 32 lanes each with up to two vectors of 16 bytes.
//   up to 1024   The same, up to four vectors a lane. No barrier up to here.
//   up to 32768  A row a block, of whole warps.
//   few rows     Of more than 512 and not in e2m1: a row a block, of four times the threads, with a
//                vector each. Nothing else hides the latency of its arithmetic.
//   more         A row a block, which walks it twice by single elements; L2 has most of it the
//                second time. Rows of any size go this way where a pointer, a stride or the hidden
//                size is not a multiple of a vector. Rows of e2m1 are walked by vectors: all three
//                must be multiples.
//
// A row's result is the same, bit by bit, whatever is batched with it: with few rows, the vectors
// of one thread go to adjacent lanes, which add them up in the same order.
//
// output may be input: the thread that writes an element is the one that has read it, and has read
// it for the last time.
#pragma once

#include <type_traits>

#include <fictl/device/e2m1.cuh>
#include <fictl/device/element_fp8.cuh>
#include <fictl/device/functions.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/norm/row.cuh>

namespace fictl::norm {

constexpr int kRMSNormSiluVec = 8;    // the elements of 16 bytes, and half a block of e2m1
constexpr int kRMSNormSiluLanes = 8;  // a line of 128 bytes
constexpr int64_t kRMSNormSiluFewVecs = 1 << 16;  // fewer would not keep a GPU's threads busy

template <typename T, typename Out>
struct RMSNormSiluArgs {
  const T* input;
  const T* weight;  // [hidden]
  Out* output;
  __nv_fp8_e4m3* scales;  // of an output in e2m1
  int64_t scales_pitch;
  float eps;
};

// Writes what a thread has of a row, whose first vector starts at `first`; `at` is from there.
// Called by whole warps, though not all of their threads' vectors are `there`.
template <typename Out>
class SiluStore {
 public:
  template <typename Args>
  __device__ SiluStore(const Args& args, const RowShape& shape, int64_t row, int first)
      : to_(computed(args.output + row * shape.output_pitch + first)) {}

  template <int N>
  __device__ void operator()(int64_t at, const float (&values)[N], bool there) const {
    if (there) device::store_l2(to_ + at, device::from_float<Out>(values));
  }

 private:
  Out* to_;
};

// A vector is half a block; adjacent threads have the halves.
template <>
class SiluStore<__nv_fp4x2_e2m1> {
 public:
  template <typename Args>
  __device__ SiluStore(const Args& args, const RowShape& shape, int64_t row, int first)
      : to_(args.output + row * shape.output_pitch + first / 2),
        scale_to_(args.scales + row * args.scales_pitch + first / kBlock),
        first_half_(first % kBlock == 0) {}

  __device__ void operator()(int64_t at, const float (&values)[kRMSNormSiluVec], bool there) const {
    float most = 0.0f;
#pragma unroll
    for (float value : values) most = device::Max()(most, fabsf(value));
    most = device::warp_reduce(device::Max(), most, kBlock / kRMSNormSiluVec);
    const auto scale = device::Element<__nv_fp8_e4m3>::from_float(most / device::kE2M1Most);
    const float factor = device::Element<__nv_fp8_e4m3>::to_float(scale);
    const uint32_t codes = device::to_e2m1(values, factor == 0.0f ? 0.0f : 1.0f / factor);
    if (!there) return;
    __stcg(reinterpret_cast<uint32_t*>(to_ + at / 2), codes);
    if (first_half_) scale_to_[at / kBlock] = scale;
  }

 private:
  static constexpr int kBlock = 16;

  __nv_fp4x2_e2m1* to_;
  __nv_fp8_e4m3* scale_to_;
  bool first_half_;
};

template <typename T, int N>
__device__ float sum_of_squares(device::Vec<T, N>& x) {
  float values[N], sum = 0.0f;
  unpack(x, values);
#pragma unroll
  for (float value : values) sum += value * value;
  return sum;
}

template <typename T, int N>
__device__ void normalized_silu(float (&values)[N], device::Vec<T, N>& x, device::Vec<T, N>& weight,
                                float scale) {
  float weights[N];
  unpack(x, values);
  unpack(weight, weights);
#pragma unroll
  for (int i = 0; i < N; ++i) values[i] = device::silu(values[i] * scale * weights[i]);
}

// Pointers, pitches and hidden size are multiples of a vector.
template <typename T, typename Out, int kVecs, int kSpread>
__global__ void __launch_bounds__(device::kMaxThreads)
    RMSNormSiluKernel(RMSNormSiluArgs<T, Out> args, RowShape shape) {
  constexpr int N = kRMSNormSiluVec;
  __shared__ device::BlockSum::Storage storage;
  RowSum row_sum(storage);
  const int64_t row = row_index();
  // Why not return beyond the last row: the other rows' lanes need these for their sums.
  const RowPart<N, kVecs, kRMSNormSiluLanes, kSpread> part(
      row < shape.rows ? static_cast<int>(shape.hidden) : 0);
  const T* from = computed(args.input + row * shape.input_pitch + part.first());
  const T* weight_from = computed(args.weight + part.first());

  device::pdl_wait();
  device::pdl_trigger();
  device::Vec<T, N> x[kVecs] = {}, weight[kVecs] = {};
  part.each([&](int i) { x[i] = device::load_l2<N>(from + part.offset(i)); });
  part.each([&](int i) { weight[i] = device::load_l1<N>(weight_from + part.offset(i)); });
  const float squares = part.sum([&](int i) { return sum_of_squares(x[i]); });
  const float scale = rsqrtf(row_sum(squares) / static_cast<float>(shape.hidden) + args.eps);

  const SiluStore<Out> store(args, shape, row, part.first());
#pragma unroll
  for (int i = 0; i < kVecs; ++i) {
    float values[N];
    normalized_silu(values, x[i], weight[i], scale);
    store(part.offset(i), values, part.has(i));
  }
}

// A row a block, of any length. Pointers, pitches and hidden size are multiples of N.
template <typename T, typename Out, int N>
__global__ void __launch_bounds__(device::kMaxThreads)
    RMSNormSiluWalkKernel(RMSNormSiluArgs<T, Out> args, RowShape shape) {
  __shared__ device::BlockSum::Storage storage;
  const int64_t row = blockIdx.x;
  const T* from = args.input + row * shape.input_pitch;
  const int thread = threadIdx.x * N;
  const int step = blockDim.x * N;

  device::pdl_wait();
  device::pdl_trigger();
  float squares = 0.0f;
#pragma unroll 4
  for (int64_t at = thread; at < shape.hidden; at += step) {
    device::Vec<T, N> x = device::load_l2<N>(from + at);
    squares += sum_of_squares(x);
  }
  const float sum = device::BlockSum(storage)(squares);
  const float scale = rsqrtf(sum / static_cast<float>(shape.hidden) + args.eps);

  const SiluStore<Out> store(args, shape, row, thread);
  for (int64_t start = 0; start < shape.hidden; start += step) {
    const int64_t at = start + thread;
    const bool there = at < shape.hidden;
    device::Vec<T, N> x = {}, weight = {};
    if (there) {
      x = device::load_l2<N>(from + at);
      weight = device::load_l1<N>(args.weight + at);
    }
    float values[N];
    normalized_silu(values, x, weight, scale);
    store(start, values, there);
  }
}

// Launches with rows held in registers, if a block has enough threads for that.
template <typename T, typename Out, int kVecs, int kSpread = 1>
bool launch_silu_held(device::LaunchConfig config, const RMSNormSiluArgs<T, Out>& args,
                      const RowShape& shape, cudaError_t* status) {
  using Part = RowPart<kRMSNormSiluVec, kVecs, kRMSNormSiluLanes, kSpread>;
  const int64_t threads = Part::threads(shape.hidden);
  if (threads > device::kMaxThreads) return false;
  config.block = row_block<kRMSNormSiluLanes>(threads);
  config.grid = dim3(device::ceil_div(shape.rows, config.block.y));
  *status = device::launch<RMSNormSiluKernel<T, Out, kVecs, kSpread>>(config, args, shape);
  return true;
}

// True if rows can be read and written by vectors.
template <typename T, typename Out>
bool rmsnorm_silu_aligned(const RMSNormSiluArgs<T, Out>& args, const RowShape& shape) {
  constexpr int N = kRMSNormSiluVec;
  constexpr int kOutN = N / device::Element<Out>::kLanes;
  return shape.hidden % N == 0 && vecs_aligned<N>(args.input, shape.input_pitch) &&
         vecs_aligned<N>(args.weight) && vecs_aligned<kOutN>(args.output, shape.output_pitch);
}

// T has 16 bits; Out is T, __nv_fp8_e4m3, or __nv_fp4x2_e2m1, of which all must be aligned and the
// hidden size a multiple of 16. `pdl`: use programmatic dependent launch where the GPU supports it.
template <typename T, typename Out>
cudaError_t RMSNormSilu(const RMSNormSiluArgs<T, Out>& args, const RowShape& shape,
                        cudaStream_t stream = nullptr, bool pdl = false) {
  if (shape.rows == 0 || shape.hidden == 0) return cudaSuccess;
  constexpr bool kInBlocks = std::is_same_v<Out, __nv_fp4x2_e2m1>;
  constexpr int N = kRMSNormSiluVec;
  constexpr int kWalkN = kInBlocks ? N : 1;
  constexpr int kShort = 2, kVecs = 4;
  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  cudaError_t status;
  const bool aligned = rmsnorm_silu_aligned(args, shape);
  if (kInBlocks && !aligned) return cudaErrorMisalignedAddress;
  if (aligned && shape.hidden <= N * kShort * device::kWarpSize) {
    launch_silu_held<T, Out, kShort>(config, args, shape, &status);
    return status;
  }
  if constexpr (!kInBlocks) {
    const bool few = shape.rows <= kRMSNormSiluFewVecs * N / shape.hidden;
    if (aligned && few && launch_silu_held<T, Out, 1, kVecs>(config, args, shape, &status)) {
      return status;
    }
  }
  if (aligned && launch_silu_held<T, Out, kVecs>(config, args, shape, &status)) return status;
  config.block = row_block<device::kWarpSize>(device::ceil_div(shape.hidden, 4 * kWalkN)).x;
  config.grid = dim3(shape.rows);
  return device::launch<RMSNormSiluWalkKernel<T, Out, kWalkN>>(config, args, shape);
}

}  // namespace fictl::norm
