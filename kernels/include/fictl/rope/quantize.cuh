// rope_quantize: rotates the rotary parts of queries and keys, multiplies them, the other parts and
// the values by a scale, and quantizes them to fp8, rounded once from fp32. Keys and values go to
// tensors or to their slots of a paged cache.
//
// Traffic: 16-bit values are read once, 8-bit ones are written once; cos and sin of a token come
// from L1 for all heads but the first. The limit is the memory's bandwidth.
//
// Tiling: a thread has 8 values of the first half of a head and the 8 at the same places of the
// second. Those are the pairs of a rotation by halves; they also suit adjacent pairs and no
// rotation: all loads are of 16 bytes, all stores of 8, and those of a warp touch. All parts of a
// token are numbered through, whatever their sizes, so that no thread is idle. A thread's loads are
// issued before the first value is used, the data before the position that cos and sin wait for.
//
// Where there is work for several waves of blocks, a thread does this twice, all loads first, for
// 64 bytes in flight. On an H200 that is 3 to 7 % faster; few tokens are done sooner by more
// threads.
//
// If a pointer, a stride or a size is not a multiple of a vector, a thread has one value of each
// half, or of a pair.
#pragma once

#include <fictl/device/convert.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/paged.cuh>
#include <fictl/device/row_units.cuh>
#include <fictl/device/vec.cuh>
#include <fictl/rope/rotate.cuh>

namespace fictl::rope {

constexpr int kQuantizeBlock = 128;  // units
// From so many units on, a thread has two.
constexpr int64_t kQuantizeMany = 1 << 19;
constexpr int kQuantizeVec = 8;
// Rotary and other part of queries and of keys, and values.
constexpr int kQuantizeParts = 5;

// The heads of one part; strides in elements.
template <typename T, typename Q>
struct QuantizePart {
  const T* from;
  int64_t token_pitch;
  int64_t head_pitch;
  device::PagedRows<Q> to;  // where it is not paged, a token is a page
  int heads;
  int size;  // values of a head
  float scale;
  bool rotated;
  bool paged;

  bool multiple_of(int values) const {
    const int64_t distances = token_pitch | head_pitch | to.page_pitch | to.slot_pitch |
                              to.head_pitch | reinterpret_cast<int64_t>(to.data);
    const int64_t address = reinterpret_cast<int64_t>(from);
    return size % (2 * values) == 0 && distances % values == 0 &&
           address % (values * static_cast<int>(sizeof(T))) == 0;
  }
};

// The same, and how its work is shared out.
template <typename T, typename Q>
struct QuantizeWork {
  QuantizePart<T, Q> part = {};
  device::Divisor head_units{1};
  int end = 0;  // of a token's units, those of this part and the ones before it
};

// A row of 2 * half numbers a position, the cosines first.
struct CosSin {
  const float* data;
  int64_t pitch;
  int half;
  bool interleaved;  // pairs of adjacent elements
};

// The destinations of the tokens of a batch; without a cache, `requests` has no data.
struct AppendedTokens {
  device::PageTable table;
  device::Indices requests;
  device::Indices positions;
};

template <typename T, typename Q, int kUnits>
struct QuantizeParams {
  QuantizeWork<T, Q> works[kQuantizeParts];
  CosSin cos_sin;
  device::Indices pos_ids;
  AppendedTokens append;
  device::RowUnits<kUnits> tokens;
};

// Loads through L1, where they stay from head to head.
template <int N>
__device__ void load_floats(const float* from, float (&to)[N]) {
  constexpr int kStep = N % 4 == 0 ? 4 : 1;
#pragma unroll
  for (int i = 0; i < N; i += kStep) {
    device::Vec<float, kStep> vec = device::load_l1<kStep>(from + i);
#pragma unroll
    for (int j = 0; j < kStep; ++j) to[i + j] = vec[j];
  }
}

// Rotates two vectors that start at values `first` and `second` of a head.
template <int N>
__device__ void rotate(float (&a)[N], float (&b)[N], int first, int second, const CosSin& rope,
                       int position) {
  const float* cosines = rope.data + position * rope.pitch;
  const float* sines = cosines + rope.half;
  if (N > 1 && rope.interleaved) {
    constexpr int kPairs = N > 1 ? N / 2 : 1;
    float cos[2][kPairs], sin[2][kPairs];
    load_floats(cosines + first / 2, cos[0]);
    load_floats(sines + first / 2, sin[0]);
    load_floats(cosines + second / 2, cos[1]);
    load_floats(sines + second / 2, sin[1]);
    if constexpr (N > 1) {
      rotate_interleaved<kPairs>(a, cos[0], sin[0]);
      rotate_interleaved<kPairs>(b, cos[1], sin[1]);
    }
  } else {
    const int pair = rope.interleaved ? first / 2 : first;
    float cos[N], sin[N];
    load_floats(cosines + pair, cos);
    load_floats(sines + pair, sin);
    rotate_halves(a, b, cos, sin);
  }
}

template <typename Q, int N>
__device__ void store_scaled(Q* to, float (&values)[N], float scale) {
#pragma unroll
  for (int i = 0; i < N; ++i) values[i] *= scale;
  device::store_l2(to, device::from_float<Q>(values));
}

// Two vectors of N values of a head: where they are, and what becomes of them.
template <typename T, typename Q, int N>
class QuantizeUnit {
 public:
  // The i-th of this thread's.
  template <typename Params>
  __device__ void find(const Params& params, int i) {
    const auto at = params.tokens.mine(i);
    exists_ = at.exists;
    if (!exists_) return;
    index_ = 0;
    int start = 0;
    while (at.unit >= params.works[index_].end) start = params.works[index_++].end;
    const QuantizePart<T, Q>& part = params.works[index_].part;
    const auto [head, unit] = params.works[index_].head_units.divide(at.unit - start);
    const bool pairs = N == 1 && part.rotated && params.cos_sin.interleaved;
    token_ = at.row;
    head_ = head;
    first_ = pairs ? 2 * unit : unit * N;
    second_ = pairs ? first_ + 1 : first_ + (part.size + 1) / 2;
    has_second_ = N > 1 || second_ < part.size;  // of an odd number, the last has none
  }

  template <typename Params>
  __device__ void load(const Params& params) {
    if (!exists_) return;
    const QuantizePart<T, Q>& part = params.works[index_].part;
    const T* from = part.from + token_ * part.token_pitch + head_ * part.head_pitch;
    low_ = device::load_l2<N>(from + first_);
    if (has_second_) high_ = device::load_l2<N>(from + second_);
  }

  // Where they go, and by which angles they are rotated; nowhere if the token is padding.
  template <typename Params>
  __device__ void look_up(const Params& params) {
    if (!exists_) return;
    const QuantizePart<T, Q>& part = params.works[index_].part;
    const AppendedTokens& append = params.append;
    position_ = part.rotated ? params.pos_ids[token_] : 0;
    const int request = append.requests.data != nullptr ? append.requests[token_] : 0;
    exists_ = request >= 0;
    slot_ = {token_, 0};
    if (exists_ && part.paged) slot_ = append.table.find(request, append.positions[token_]);
  }

  template <typename Params>
  __device__ void store(const Params& params) {
    if (!exists_) return;
    const QuantizePart<T, Q>& part = params.works[index_].part;
    float a[N], b[N];
    device::to_float(low_, a);
    device::to_float(high_, b);
    if (part.rotated) rotate(a, b, first_, second_, params.cos_sin, position_);
    Q* to = part.to.row(slot_, head_);
    store_scaled(to + first_, a, part.scale);
    if (has_second_) store_scaled(to + second_, b, part.scale);
  }

 private:
  bool exists_, has_second_;
  int index_;
  int64_t token_;
  int head_, first_, second_, position_;
  device::PageSlot slot_;
  device::Vec<T, N> low_, high_ = {};
};

template <typename T, typename Q, int N, int kUnits>
__global__ void __launch_bounds__(kQuantizeBlock / kUnits)
    RopeQuantizeKernel(const __grid_constant__ QuantizeParams<T, Q, kUnits> params) {
  QuantizeUnit<T, Q, N> units[kUnits];
#pragma unroll
  for (int i = 0; i < kUnits; ++i) units[i].find(params, i);
  device::pdl_wait();
  device::pdl_trigger();
#pragma unroll
  for (int i = 0; i < kUnits; ++i) units[i].load(params);
#pragma unroll
  for (int i = 0; i < kUnits; ++i) units[i].look_up(params);
#pragma unroll
  for (int i = 0; i < kUnits; ++i) units[i].store(params);
}

// Threads that share a head.
template <int N, typename T, typename Q>
int head_units(const QuantizePart<T, Q>& part) {
  return static_cast<int>(device::ceil_div(part.size, 2 * N));
}

template <int N, int kUnits, typename T, typename Q>
cudaError_t LaunchRopeQuantize(device::LaunchConfig config, const QuantizePart<T, Q>* parts,
                               int count, const CosSin& cos_sin, device::Indices pos_ids,
                               const AppendedTokens& append, int64_t tokens, int units) {
  const device::RowUnits<kUnits> rows(tokens, units, kQuantizeBlock / kUnits);
  QuantizeParams<T, Q, kUnits> params{{}, cos_sin, pos_ids, append, rows};
  int end = 0;
  for (int i = 0; i < count; ++i) {
    const int each = head_units<N>(parts[i]);
    end += parts[i].heads * each;
    params.works[i] = {parts[i], device::Divisor(each > 0 ? each : 1), end};
  }
  config.grid = rows.grid();
  config.block = rows.block();
  return device::launch<RopeQuantizeKernel<T, Q, N, kUnits>>(config, params);
}

template <int N, typename T, typename Q>
int token_units(const QuantizePart<T, Q>* parts, int count) {
  int units = 0;
  for (int i = 0; i < count; ++i) units += parts[i].heads * head_units<N>(parts[i]);
  return units;
}

// pos_ids: [tokens]. A token whose request is negative is padding, which is not written. `pdl`:
// use programmatic dependent launch where the GPU supports it.
template <typename T, typename Q>
cudaError_t RopeQuantize(const QuantizePart<T, Q>* parts, int count, const CosSin& cos_sin,
                         device::Indices pos_ids, const AppendedTokens& append, int64_t tokens,
                         cudaStream_t stream = nullptr, bool pdl = false) {
  if (tokens == 0) return cudaSuccess;
  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  bool in_vecs = device::vec_aligned(cos_sin.data) && cos_sin.pitch % 4 == 0;
  for (int i = 0; i < count; ++i) in_vecs &= parts[i].multiple_of(kQuantizeVec);
  if (!in_vecs) {
    const int units = token_units<1>(parts, count);
    if (units == 0) return cudaSuccess;
    return LaunchRopeQuantize<1, 1>(config, parts, count, cos_sin, pos_ids, append, tokens, units);
  }
  constexpr int N = kQuantizeVec;
  const int units = token_units<N>(parts, count);
  if (units == 0) return cudaSuccess;
  if (tokens * units < kQuantizeMany) {
    return LaunchRopeQuantize<N, 1>(config, parts, count, cos_sin, pos_ids, append, tokens, units);
  }
  return LaunchRopeQuantize<N, 2>(config, parts, count, cos_sin, pos_ids, append, tokens, units);
}

}  // namespace fictl::rope
