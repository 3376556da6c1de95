// layernorm: output = (input - mean) / sqrt(variance + eps) * gamma + beta, row by row, rounded
// once from fp32; layernorm_quant divides that by a scale and rounds it to fp8.
//
// Algorithm: the threads of a row agree on its mean, then on the sum of the squares of what they
// hold less the mean. Why not both in one step, from the sum of the squares themselves: where the
// mean is large beside the deviation, the difference of two large numbers would be all rounding.
//
// Traffic: a row is read once and written once; between the two it waits in registers. gamma and
// beta are fp32, four bytes each for two of the row, and every row reads them, from L1. The limit
// is the memory's bandwidth.
//
// Tiling: a vector is four elements, as many as 16 bytes of gamma: with wider ones, the loads of
// gamma of adjacent threads would be 32 bytes apart, at half of L1's speed. A thread holds 64 bytes
// of its row, all loads issued before the first use. gamma and beta come when the row's sums are
// known, a few vectors at a time: before that they would take the registers of other rows, whose
// loads hide their latency. The part of it that is HBM's is hidden all the same: the first block
// asks for them while it waits for its row.
//   up to 2 KiB  Rows share a block and need no barrier: half a warp or a warp each.
//   up to 64 KiB A row a block, of whole warps; 8192 elements of 16 bits have 256 threads.
//   few rows     A row a block, of four times the threads, with a fourth of the vectors each and
//                gamma and beta from the start: nothing else hides the latency of its arithmetic.
//   others       Rows that are longer, or of no whole vectors in size, pitch or place: a row a
//                block, which walks it three times by single elements; L2 has most of it after the
//                first.
//
// A row's result is the same, bit by bit, whatever is batched with it: with few rows, the vectors
// of one thread go to adjacent lanes, which add them up in the same order.
//
// output may be input: the thread that writes an element is the one that has read it, and has read
// it for the last time.
#pragma once

#include <type_traits>

#include <fictl/device/element_fp8.cuh>
#include <fictl/device/functions.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/norm/row.cuh>

namespace fictl::norm {

constexpr int kLayerNormVec = device::kVecBytes / sizeof(float);
constexpr int kLayerNormBytes = 64;   // of a row that a thread holds
constexpr int kLayerNormWeights = 2;  // vectors whose gamma and beta it holds
constexpr int kLayerNormLanes = 16;
constexpr int kLayerNormSpread = 4;             // threads for one, where rows are few
constexpr int64_t kLayerNormFewVecs = 1 << 17;  // fewer would not keep a GPU's threads busy

struct LayerNormArgs {
  const float* gamma;  // [hidden]
  const float* beta;   // [hidden]
  const float* scale;  // [1], of a quantized output
  float eps;
};

// Normalises a row's elements, once its sums are known.
template <typename T, typename Out>
class LayerNormStore {
 public:
  __device__ LayerNormStore(const LayerNormArgs& args, float mean, float inverse_deviation)
      : mean_(mean), inverse_deviation_(inverse_deviation) {
    if constexpr (kQuantized) inverse_scale_ = 1.0f / *args.scale;
  }

  template <int N>
  __device__ void operator()(Out* to, device::Vec<T, N>& x, device::Vec<float, N> gamma,
                             device::Vec<float, N> beta) const {
    float values[N];
    unpack(x, values);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      values[i] = (values[i] - mean_) * inverse_deviation_ * gamma[i] + beta[i];
      if constexpr (kQuantized) values[i] *= inverse_scale_;
    }
    device::store_l2(to, device::from_float<Out>(values));
  }

 private:
  static constexpr bool kQuantized = !std::is_same_v<T, Out>;

  float mean_;
  float inverse_deviation_;
  float inverse_scale_ = 1.0f;
};

// Prefetches `size` numbers into L2, by all threads of a block.
__device__ inline void prefetch_l2(const float* from, int64_t size) {
  constexpr int kLine = 128 / sizeof(float);
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  for (int64_t at = thread * kLine; at < size; at += blockDim.x * blockDim.y * kLine) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(from + at));
  }
}

// Pointers, pitches and hidden size are multiples of a vector.
template <typename T, typename Out, int kVecs, int kSpread>
__global__ void __launch_bounds__(device::kMaxThreads)
    LayerNormKernel(Out* output, const T* input, LayerNormArgs args, RowShape shape) {
  constexpr int N = kLayerNormVec;
  constexpr int kBatch = kVecs < kLayerNormWeights ? kVecs : kLayerNormWeights;
  __shared__ device::BlockSum::Storage storage;
  RowSum row_sum(storage);
  const int64_t row = row_index();
  // Why not return beyond the last row: the other rows' lanes need these for their sums.
  const RowPart<N, kVecs, kLayerNormLanes, kSpread> part(
      row < shape.rows ? static_cast<int>(shape.hidden) : 0);
  const T* from = computed(input + row * shape.input_pitch + part.first());
  const float* gamma_from = computed(args.gamma + part.first());
  const float* beta_from = computed(args.beta + part.first());
  const float share = device::fast_divide(1.0f, static_cast<float>(shape.hidden));
  device::Vec<T, N> x[kVecs];
  device::Vec<float, N> gamma[kBatch], beta[kBatch];
  const auto load_weights = [&](int first) {
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      if (!part.has(first + i)) continue;
      gamma[i] = device::load_l1<N>(gamma_from + part.offset(first + i));
      beta[i] = device::load_l1<N>(beta_from + part.offset(first + i));
    }
  };

  device::pdl_wait();
  device::pdl_trigger();
  part.each([&](int i) { x[i] = device::load_l2<N>(from + part.offset(i)); });
  if constexpr (kBatch == kVecs) {
    load_weights(0);
  } else if (blockIdx.x == 0) {
    prefetch_l2(args.gamma, shape.hidden);
    prefetch_l2(args.beta, shape.hidden);
  }

  const auto sum = [&](int i) {
    float values[N], sum = 0.0f;
    unpack(x[i], values);
#pragma unroll
    for (float value : values) sum += value;
    return sum;
  };
  const float mean = share * row_sum(part.sum(sum));
  const auto squares = [&](int i) {
    float values[N], sum = 0.0f;
    unpack(x[i], values);
#pragma unroll
    for (float value : values) sum += device::square(value - mean);
    return sum;
  };
  const float variance = share * row_sum(part.sum(squares));

  const LayerNormStore<T, Out> store(args, mean, rsqrtf(variance + args.eps));
  Out* to = computed(output + row * shape.output_pitch + part.first());
#pragma unroll
  for (int first = 0; first < kVecs; first += kBatch) {
    if constexpr (kBatch < kVecs) load_weights(first);
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      if (!part.has(first + i)) continue;
      store(to + part.offset(first + i), x[first + i], gamma[i], beta[i]);
    }
  }
}

// A row a block, of any length and alignment.
template <typename T, typename Out>
__global__ void __launch_bounds__(device::kMaxThreads)
    LayerNormWalkKernel(Out* output, const T* input, LayerNormArgs args, RowShape shape) {
  __shared__ device::BlockSum::Storage storage;
  device::BlockSum row_sum(storage);
  const T* from = input + blockIdx.x * shape.input_pitch;
  Out* to = output + blockIdx.x * shape.output_pitch;
  const float share = device::fast_divide(1.0f, static_cast<float>(shape.hidden));
  const auto walk = [&](auto body) {
#pragma unroll 4
    for (int64_t at = threadIdx.x; at < shape.hidden; at += blockDim.x) body(at);
  };
  const auto value = [&](int64_t at) { return device::Element<T>::to_float(__ldcg(from + at)); };

  device::pdl_wait();
  device::pdl_trigger();
  float sum = 0.0f;
  walk([&](int64_t at) { sum += value(at); });
  const float mean = share * row_sum(sum);
  float squares = 0.0f;
  walk([&](int64_t at) { squares += device::square(value(at) - mean); });
  const float variance = share * row_sum(squares);

  const LayerNormStore<T, Out> store(args, mean, rsqrtf(variance + args.eps));
  walk([&](int64_t at) {
    device::Vec<T, 1> x = device::load_l2<1>(from + at);
    store(to + at, x, device::load_l1<1>(args.gamma + at), device::load_l1<1>(args.beta + at));
  });
}

// Launches with rows held in registers, if a block has enough threads for that.
template <typename T, typename Out, int kVecs, int kSpread>
bool launch_layernorm_held(device::LaunchConfig config, Out* output, const T* input,
                           const LayerNormArgs& args, const RowShape& shape, cudaError_t* status) {
  using Part = RowPart<kLayerNormVec, kVecs, kLayerNormLanes, kSpread>;
  const int64_t threads = Part::threads(shape.hidden);
  if (threads > device::kMaxThreads) return false;
  config.block = row_block<kLayerNormLanes>(threads);
  config.grid = dim3(device::ceil_div(shape.rows, config.block.y));
  *status =
      device::launch<LayerNormKernel<T, Out, kVecs, kSpread>>(config, output, input, args, shape);
  return true;
}

// Out is T, or an fp8 type. `pdl`: use programmatic dependent launch where the GPU supports it.
template <typename T, typename Out>
cudaError_t LayerNorm(Out* output, const T* input, const LayerNormArgs& args, const RowShape& shape,
                      cudaStream_t stream = nullptr, bool pdl = false) {
  if (shape.rows == 0 || shape.hidden == 0) return cudaSuccess;
  constexpr int N = kLayerNormVec;
  constexpr int kVecs = kLayerNormBytes / (N * sizeof(T));
  const bool few = shape.rows <= kLayerNormFewVecs * N / shape.hidden;
  const bool aligned = shape.hidden % N == 0 && vecs_aligned<N>(input, shape.input_pitch) &&
                       vecs_aligned<N>(output, shape.output_pitch) && vecs_aligned<N>(args.gamma) &&
                       vecs_aligned<N>(args.beta);

  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  cudaError_t status;
  if (aligned && few &&
      launch_layernorm_held<T, Out, kVecs / kLayerNormSpread, kLayerNormSpread>(
          config, output, input, args, shape, &status)) {
    return status;
  }
  if (aligned &&
      launch_layernorm_held<T, Out, kVecs, 1>(config, output, input, args, shape, &status)) {
    return status;
  }
  config.grid = dim3(shape.rows);
  config.block = row_block<device::kWarpSize>(device::ceil_div(shape.hidden, 4)).x;
  return device::launch<LayerNormWalkKernel<T, Out>>(config, output, input, args, shape);
}

}  // namespace fictl::norm
