// qk_rmsnorm_rope: copies a token's packed q, k and v to a tensor each; q and k are normalized over
// all their heads, weighted, and rotated by the token's position in a video. Rounded once from
// fp32, or quantized to fp8 by a scale.
//
// Rotation: the channels of a head are divided among the three coordinates of a patch: some rotate
// with its frame, the next with its row, the last with its column. A pair of channels turns by
// coordinate * base^(-2 i / channels), where i counts the pairs of its coordinate; YARN slows down
// the later ones, by up to `factor`.
//
// Traffic: q, k and v are read once and written once. Weights come from L1. The limit is the
// memory's bandwidth.
//
// Tiling: a block for each of q, k and v of a token. It is small, so that others load while one
// waits for its sum; and a block of v, which has nothing to wait for, is never far.
// A thread holds two pairs of vectors of 16 bytes in registers. A pair lies half a head apart:
// whichever way the channels of a head are paired, both of a pair are in one thread. The threads
// beside it have the rest of the head, and its second pair is of the same place in another head, so
// that it turns by the same angles.
// All loads are issued before the first value is used. Behind them the block computes the angles,
// one pair a thread, once for all heads; the barrier of the sum is theirs too.
#pragma once

#include <math.h>

#include <type_traits>

#include <fictl/device/convert.cuh>
#include <fictl/device/element_fp8.cuh>
#include <fictl/device/functions.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/reduce.cuh>
#include <fictl/device/vec.cuh>
#include <fictl/norm/qk_rope_arguments.cuh>
#include <fictl/rope/rotate.cuh>

namespace fictl::norm {

constexpr int kQKRopeMaxThreads = 512;
constexpr int kQKRopeHeads = 2;  // a thread
constexpr int kQKRopeVec = 8;    // elements; two bytes each are read
constexpr int kQKRopeMaxDim = 256;
static_assert(kQKRopeMaxHidden == kQKRopeMaxThreads * kQKRopeHeads * 2 * kQKRopeVec);

template <typename T>
struct QKRopeInput {
  const T* qkv;  // [tokens][heads of q, then of k, then of v][head_dim]
  const T* q_weight;
  const T* k_weight;
};

template <typename Out>
struct QKRopeOutput {
  Out* part[3];  // [tokens][heads][head_dim]
};

// One of the three coordinates that channels turn with: token / stride % size.
struct QKRopeCoordinate {
  unsigned stride;
  unsigned size;
  int pairs_before;  // of channels, that turn with others
  float log2_step;   // from the speed of a pair to that of the next
};

// The kernel's arguments, in the form that costs least to use.
struct QKRopeParams {
  int head_dim;
  int heads[3];
  QKRopeCoordinate coordinates[3];
  bool interleaved;
  bool normalize;
  float low;
  float ramp;      // per pair, from low to high
  float slowdown;  // what the end of the ramp adds to a speed of 1
  float attention_factor;
  float eps;
  float qk_scale;
  float v_scale;

  QKRopeParams(const QKRopeShape& shape, const QKRopeAngles& angles, const QKRopeNorm& norm)
      : head_dim(shape.head_dim),
        interleaved(angles.interleaved),
        normalize(norm.is_on),
        low(angles.low),
        ramp(1 / ramp_width(angles)),
        slowdown(1 / angles.factor - 1),
        attention_factor(angles.attention_factor),
        eps(norm.eps),
        qk_scale(norm.qk_scale),
        v_scale(norm.v_scale) {
    int64_t stride = shape.patches_of_video(), pairs = 0;
    for (int i = 0; i < 3; ++i) {
      const int64_t size = shape.patches[i], channels = shape.channels[i];
      heads[i] = shape.heads[i];
      stride /= size;
      const double log2_step = channels == 0 ? 0 : -2 * log2(angles.base) / channels;
      coordinates[i] = {static_cast<unsigned>(stride), static_cast<unsigned>(size),
                        static_cast<int>(pairs), static_cast<float>(log2_step)};
      pairs += channels / 2;
    }
  }

  // Where it is a step, the step has some width.
  static double ramp_width(const QKRopeAngles& angles) {
    const double width = angles.high - angles.low;
    return fabs(width) <= 1e-6 ? width + 1e-3 : width;
  }
};

// of[i]. Why not that: kernel parameters that are indexed are copied to local memory first.
template <typename Of>
__device__ Of qk_rope_of(int i, const Of (&of)[3]) {
  return i == 0 ? of[0] : i == 1 ? of[1] : of[2];
}

// The angles of one token, for every pair of channels of a head.
struct alignas(device::kVecBytes) QKRopeTable {
  float cos[kQKRopeMaxDim / 2];
  float sin[kQKRopeMaxDim / 2];

  // By all threads of the block; a barrier is to follow.
  __device__ void fill(unsigned token, const QKRopeParams& params) {
    for (int pair = threadIdx.x; pair < params.head_dim / 2; pair += blockDim.x) {
      constexpr float kPi = 3.14159265358979324f;
      const float halfturns = this->halfturns(token, pair, params);
      float cosine, sine;
      // The instructions for it are good near zero only.
      __sincosf(kPi * (halfturns - 2.0f * rintf(0.5f * halfturns)), &sine, &cosine);
      cos[pair] = cosine * params.attention_factor;
      sin[pair] = sine * params.attention_factor;
    }
  }

  // Why in half turns: whole turns are then taken off without any error.
  __device__ static float halfturns(unsigned token, int pair, const QKRopeParams& params) {
    constexpr float kOverPi = 0.31830988618379067f;
    const auto& coordinates = params.coordinates;
    const int which = (pair >= coordinates[1].pairs_before) + (pair >= coordinates[2].pairs_before);
    const QKRopeCoordinate coordinate = qk_rope_of(which, coordinates);
    const float i = static_cast<float>(pair - coordinate.pairs_before);
    const float slowed = __saturatef((i - params.low) * params.ramp) * params.slowdown;
    const float speed = exp2f(i * coordinate.log2_step) * (1.0f + slowed);
    const unsigned steps = token / coordinate.stride % coordinate.size;
    return static_cast<float>(steps) * (speed * kOverPi);
  }
};

// The cosines and sines of a thread's two vectors, times a factor.
struct QKRopeTurn {
  static constexpr int N = kQKRopeVec;
  bool interleaved;
  float cos[N];
  float sin[N];

  // `column` is where the vectors start in their halves of a head.
  __device__ QKRopeTurn(const QKRopeTable& table, int column, float factor,
                        const QKRopeParams& params)
      : interleaved(params.interleaved) {
    // The N / 2 pairs of each vector, or the N pairs that both share.
    const int first = interleaved ? column / 2 : column;
    const int second = interleaved ? params.head_dim / 4 + first : first + N / 2;
    read(table.cos + first, factor, cos);
    read(table.cos + second, factor, cos + N / 2);
    read(table.sin + first, factor, sin);
    read(table.sin + second, factor, sin + N / 2);
  }

  __device__ void operator()(float (&a)[N], float (&b)[N]) const {
    if (interleaved) {
      rope::rotate_interleaved(a, half(cos), half(sin));
      rope::rotate_interleaved(b, half(cos + N / 2), half(sin + N / 2));
    } else {
      rope::rotate_halves(a, b, cos, sin);
    }
  }

 private:
  using Half = float[N / 2];

  __device__ static const Half& half(const float* from) {
    return *reinterpret_cast<const Half*>(from);
  }

  __device__ static void read(const float* from, float factor, float* to) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x * factor;
    to[1] = four.y * factor;
    to[2] = four.z * factor;
    to[3] = four.w * factor;
  }
};

// A thread's part of q or of k: kQKRopeHeads pairs of vectors, and their weights.
template <typename T>
class QKRopePart {
 public:
  static constexpr int N = kQKRopeVec;
  using Vec = device::Vec<T, N>;

  __device__ QKRopePart(int head_dim, int heads)
      : to_second_(head_dim / 2),
        size_(heads * head_dim),
        // A head is a power of two.
        column_((threadIdx.x & (head_dim / (2 * N) - 1)) * N) {}

  __device__ int column() const { return column_; }

  __device__ void load(const T* from) {
    each([&](int i, int at) {
      x_[i][0] = device::load_l2<N>(from + at);
      x_[i][1] = device::load_l2<N>(from + at + to_second_);
    });
  }

  // Loads through L1, where the weights stay from token to token. Why not __ldg: see rmsnorm.cuh.
  __device__ void load_weights(const T* from) {
    each([&](int i, int at) {
      weights_[i][0] = device::load_l1<N>(from + at);
      weights_[i][1] = device::load_l1<N>(from + at + to_second_);
    });
  }

  __device__ void take_one_as_weights() {
    each([&](int i, int) {
#pragma unroll
      for (int j = 0; j < N; ++j) {
        weights_[i][0][j] = weights_[i][1][j] = device::Element<T>::from_float(1.0f);
      }
    });
  }

  __device__ float squares() {
    float sum = 0.0f;
    each([&](int i, int) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float x[N];
        device::to_float(x_[i][half], x);
#pragma unroll
        for (int j = 0; j < N; ++j) sum += x[j] * x[j];
      }
    });
    return sum;
  }

  template <typename Out>
  __device__ void store(Out* to, const QKRopeTurn& turn) {
    each([&](int i, int at) {
      float a[N], b[N];
      weigh(i, 0, a);
      weigh(i, 1, b);
      turn(a, b);
      device::store_l2(to + at, device::from_float<Out>(a));
      device::store_l2(to + at + to_second_, device::from_float<Out>(b));
    });
  }

 private:
  // Calls body(i, start of pair i) for every pair of this thread.
  template <typename Body>
  __device__ void each(Body body) {
#pragma unroll
    for (int i = 0; i < kQKRopeHeads; ++i) {
      const int at = (threadIdx.x + i * blockDim.x) * (2 * N) - column_;
      if (at < size_) body(i, at);
    }
  }

  __device__ void weigh(int i, int half, float (&to)[N]) {
    device::keep_packed(x_[i][half]);
    device::keep_packed(weights_[i][half]);
    float weights[N];
    device::to_float(x_[i][half], to);
    device::to_float(weights_[i][half], weights);
#pragma unroll
    for (int j = 0; j < N; ++j) to[j] *= weights[j];
  }

  int to_second_;  // from a pair's first vector
  int size_;
  int column_;  // where the thread's vectors start in each half of their heads
  Vec x_[kQKRopeHeads][2];
  Vec weights_[kQKRopeHeads][2];
};

// `size` elements of v by a block, which can hold them.
template <typename T, typename Out>
__device__ void qk_rope_copy_v(const T* from, Out* to, int size, float scale) {
  constexpr int N = kQKRopeVec, kVecs = 2 * kQKRopeHeads;
  device::Vec<T, N> x[kVecs];
#pragma unroll
  for (int i = 0; i < kVecs; ++i) {
    const int at = (i * blockDim.x + threadIdx.x) * N;
    if (at < size) x[i] = device::load_l2<N>(from + at);
  }
#pragma unroll
  for (int i = 0; i < kVecs; ++i) {
    const int at = (i * blockDim.x + threadIdx.x) * N;
    if (at >= size) continue;
    if constexpr (std::is_same_v<T, Out>) {
      device::store_l2(to + at, x[i]);
    } else {
      float values[N];
      device::to_float(x[i], values);
#pragma unroll
      for (int j = 0; j < N; ++j) values[j] *= scale;
      device::store_l2(to + at, device::from_float<Out>(values));
    }
  }
}

// Two of the largest blocks an SM: 64 registers a thread.
template <typename T, typename Out>
__global__ void __launch_bounds__(kQKRopeMaxThreads, 2)
    QKRMSNormRopeKernel(QKRopeInput<T> input, QKRopeOutput<Out> output, QKRopeParams params) {
  __shared__ device::BlockSum::Storage storage;
  __shared__ QKRopeTable table;
  const unsigned token = blockIdx.x / 3;
  const int part = blockIdx.x % 3;
  const int heads = qk_rope_of(part, params.heads);
  const int hidden = heads * params.head_dim;
  const int heads_before = (part > 0) * params.heads[0] + (part > 1) * params.heads[1];
  const int heads_of_token = params.heads[0] + params.heads[1] + params.heads[2];
  const int64_t head = static_cast<int64_t>(token) * heads_of_token + heads_before;
  const T* from = input.qkv + head * params.head_dim;
  Out* to = qk_rope_of(part, output.part) + static_cast<int64_t>(token) * hidden;

  device::pdl_wait();
  device::pdl_trigger();
  if (part == 2) return qk_rope_copy_v(from, to, hidden, params.v_scale);
  QKRopePart<T> mine(params.head_dim, heads);
  mine.load(from);
  if (params.normalize) {
    mine.load_weights(part == 0 ? input.q_weight : input.k_weight);
  } else {
    mine.take_one_as_weights();
  }
  table.fill(token, params);
  const float squares = device::BlockSum(storage)(mine.squares());
  const float mean = device::fast_divide(squares, static_cast<float>(hidden));
  const float scale = params.normalize ? rsqrtf(mean + params.eps) : 1.0f;
  mine.store(to, QKRopeTurn(table, mine.column(), scale * params.qk_scale, params));
}

// `pdl`: use programmatic dependent launch where the GPU supports it. All pointers are aligned to
// 16 bytes, and there are at most 2^31 / 3 tokens.
template <typename T, typename Out>
cudaError_t QKRMSNormRope(const QKRopeInput<T>& input, const QKRopeOutput<Out>& output,
                          const QKRopeShape& shape, const QKRopeAngles& angles,
                          const QKRopeNorm& norm, cudaStream_t stream = nullptr, bool pdl = false) {
  int64_t most = 0;
  for (const int64_t heads : shape.heads) most = heads > most ? heads : most;
  if (shape.tokens == 0 || most == 0) return cudaSuccess;
  const int64_t threads = device::ceil_div(most * shape.head_dim, kQKRopeHeads * 2 * kQKRopeVec);

  device::LaunchConfig config;
  config.grid = dim3(shape.tokens * 3);
  config.block = dim3(device::ceil_div(threads, device::kWarpSize) * device::kWarpSize);
  config.stream = stream;
  config.pdl = pdl;
  return device::launch<QKRMSNormRopeKernel<T, Out>>(config, input, output,
                                                     QKRopeParams(shape, angles, norm));
}

}  // namespace fictl::norm
