// Attention of tiles of 64 or 128 rows of queries on tensor cores, for GPUs from sm_80 on.
//
// Algorithm: FlashAttention-2. A block keeps the queries of its rows in shared memory and walks
// over the keys, from the last stage to the first. A stage is two products with a softmax between
// them. The scores come from mma, and the online softmax works on them in registers. Its weights
// are the operand of the product with the values, and of a product with ones that sums them. A mask
// is looked at only in stages that a border crosses: one bit for each key and row.
//
// Traffic: the queries once. The keys and values of a head once for each tile of rows, mostly from
// L2: tiles of a request run at the same time and at the same pace.
//
// Tiling: a warp has 32 rows where a head has up to 128 values, or 160 with half the keys in a
// stage. Each key and value that it reads from shared memory then serves two products. With 16
// rows, shared memory (128 bytes a clock) would take as long as the tensor cores. Heads of 256
// leave registers for 16 rows. The numbers of a tile are in _tiles.py. A head of more than 256
// values is shared out to two blocks.
//
// Order: two warps share a scheduler, and only each other's work hides what one of them waits for.
// Operands are loaded one product ahead. Exponentials, and the scaling of the sum so far, stand
// between products with the values, without a branch. Copies begin at the maximum of the scores,
// where the tensor cores wait anyway.
//
// Registers, a thread, of 128 dims: 128 for the sum, 64 for the scores of 64 keys, 24 for operands,
// 12 for the softmax, and the addresses. That is all 255 that two blocks of 4 warps on an SM leave.
//
// Shared memory: the queries (32 KiB for 128 rows of 128) and two stages of keys and values (32 KiB
// each) are 96 KiB, twice an SM. One stage a block is in flight, 64 KiB an SM, while the products
// of the other stage run.
#pragma once

#include <fictl/attention/epilogue.cuh>
#include <fictl/attention/fp4_rows.cuh>
#include <fictl/attention/problem.cuh>
#include <fictl/attention/queries.cuh>
#include <fictl/attention/row.cuh>
#include <fictl/attention/tile.cuh>
#include <fictl/attention/tile_shape.cuh>
#include <fictl/attention/variant.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/ldmatrix.cuh>
#include <fictl/device/mma.cuh>
#include <fictl/device/shared_parts.cuh>
#include <fictl/device/softmax.cuh>

namespace fictl::attention {

template <typename Config>
struct PrefillShape : HeadShape<Config, device::kMmaK> {
  using Head = HeadShape<Config, device::kMmaK>;
  using Q = Widened<typename Config::Q>;
  using KV = typename Config::Keys::Element;

  static constexpr int kRows = Config::kRows;
  static constexpr int kWarpRows = TileShape<Config>::kWarpRows;
  static constexpr int kWarps = kRows / kWarpRows;
  static_assert(kWarpRows == 16 || kWarpRows == 32, "a warp has one or two blocks of 16 rows");
  static_assert(kRows % kWarpRows == 0, "every warp has as many rows");
  static constexpr int kThreads = kWarps * 32;
  static constexpr int kKeys = TileShape<Config>::kKeys;  // of a stage
  static_assert(kKeys % 16 == 0, "the second product takes 16 keys at a time");
  static constexpr int kStages = 2;

  // Keys and values of fewer bits are converted before tensor cores take them.
  static constexpr bool kConverts = sizeof(KV) != sizeof(Q);

  static constexpr int kQueryBytes = kRows * Head::kColumns * static_cast<int>(sizeof(Q));
  static constexpr bool kFp4 = kIsFp4<typename Config::Keys>;
  static_assert(!(kFp4 && Config::kRope),
                "keys of four bits are rotated before they are quantized");
  static constexpr int kKeyUnits = Head::kColumns / kPackOf<KV>;
  static constexpr int kValueUnits = Head::kValueColumns / kPackOf<KV>;

  static constexpr int kKeysBytes = kKeys * kKeyUnits * static_cast<int>(sizeof(KV));
  static constexpr int kValuesBytes = kKeys * kValueUnits * static_cast<int>(sizeof(KV));
  // Scales of four bits: rows of keys, then of values.
  static constexpr int kKeyScalesBytes = kFp4 ? kKeys * Head::kColumns / kFp4Block : 0;
  static constexpr int kValueScalesBytes = kFp4 ? kKeys * Head::kValueColumns / kFp4Block : 0;
  static constexpr int kStageBytes =
      kKeysBytes + kValuesBytes + kKeyScalesBytes + kValueScalesBytes;
  static constexpr int kOperandBytes = kConverts ? 2 * kPackOf<KV> * kKeysBytes : 0;
  static constexpr int kValueOperandBytes = kConverts ? 2 * kPackOf<KV> * kValuesBytes : 0;
  static constexpr int kTurnsBytes =
      Config::kRope ? Head::kDim / 2 * static_cast<int>(sizeof(double)) : 0;

  // Outputs have as many bits as queries, or 8. In the end they lie where the queries were, and
  // beyond where a head has more values.
  static constexpr int kOutBytes = kRows * Head::kValueColumns * static_cast<int>(sizeof(Q));
  static constexpr int kQueryRoom = kQueryBytes > kOutBytes ? kQueryBytes : kOutBytes;
  static constexpr int kSharedBytes =
      kQueryRoom + kStages * kStageBytes + kOperandBytes + kValueOperandBytes + kTurnsBytes;
};

// The keys that the first and the last row of a warp see.
struct Borders {
  Span lowest;
  Span highest;
};

// The part of a tile that a warp's lanes hold. Each lane has two of every 16 rows, and two adjacent
// columns of every eight.
template <typename Config>
class PrefillWarp {
  using Shape = PrefillShape<Config>;
  using Q = typename Shape::Q;
  using Operands = Tile<Q, Shape::kColumns>;
  using ValueOperands = Tile<Q, Shape::kValueColumns>;
  using Outputs = Tile<typename Config::O, Shape::kValueColumns>;

  static constexpr int kSixteens = Shape::kWarpRows / 16;

 public:
  __device__ PrefillWarp(const Problem<Config>& problem, const Item& item, const Borders& borders,
                         int kv_head, int first_value)
      : problem_(problem),
        item_(item),
        borders_(borders),
        kv_head_(kv_head),
        first_value_(first_value),
        lane_(static_cast<int>(threadIdx.x) % 32),
        first_row_(static_cast<int>(threadIdx.x) / 32 * Shape::kWarpRows),
        q_at_(first_row_ + device::MmaA::row(lane_), device::MmaA::chunk(lane_)),
        k_at_(device::MmaB::row(lane_), device::MmaB::chunk(lane_)),
        v_at_(device::MmaA::row(lane_), device::MmaA::chunk(lane_)) {
    for (auto& pair : most_) pair[0] = pair[1] = device::SoftmaxState::kLeastMax;
  }

  // Adds a stage's keys, which are from position `first` on. Meanwhile `copy()` begins to copy the
  // next one. Why there: at the start of a stage, where it was, all warps of the block would wait
  // for their addresses at once, and the tensor cores for them; between products it would take the
  // registers in which those are ahead.
  template <typename Copy>
  __device__ void add(Operands q, Operands k, ValueOperands v, int first, Copy copy) {
    if (!sees(first)) {
      copy();
      return;
    }
    Scores scores = multiply(q, k);
    if constexpr (Config::Variant::kTransforms) transform(scores, first);
    __syncwarp();  // Why: all of the warp is here, which shuffles would otherwise have to find out.
    if (Config::Variant::kMasks || crosses_border(first)) mask(scores, first);
    __syncwarp();
    float factors[kSixteens][2];
    raise(scores, factors);
    copy();
    weigh(scores, factors, v);
  }

  // `staging` is where the block's queries were, which nobody reads any more.
  __device__ void store(Outputs staging) {
#pragma unroll
    for (int m = 0; m < kSixteens; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) store_row(m, half, staging);
    }
    if (item_.partial < 0) copy_out(staging);
  }

 private:
  struct Scores {
    float at[kSixteens][Shape::kKeys / 8][4];
  };

  // The number within the tile of one of this lane's rows.
  __device__ int row(int m, int half) const { return first_row_ + m * 16 + half * 8 + lane_ / 4; }

  __device__ Place place(int row) const {
    const Row at = row_of(problem_, item_.row + row, kv_head_);
    return {item_.request, at.query,     0,          at.head,      kv_head_,
            item_.q_len,   item_.kv_len, item_.mask, item_.q_start};
  }

  // Why operands are loaded ahead: a product waits for them as long as four others take.
  __device__ Scores multiply(Operands q, Operands k) const {
    constexpr int kSteps = Shape::kColumns / 16;
    constexpr int kNs = Shape::kKeys / 16;
    static_assert(kNs % 2 == 0, "the first of a step is where the last was not");
    Scores scores = {};
    // Sums of more values leave no registers for operands of the next product.
    constexpr int kAhead = kSixteens * Shape::kValueColumns > 256 ? 1 : 2;
    uint32_t a[kAhead][kSixteens][4];
    uint32_t b[kAhead][4];
    const auto load_a = [&](int step) {
#pragma unroll
      for (int m = 0; m < kSixteens; ++m) {
        device::ldmatrix_x4(a[step % kAhead][m], q_at_.at(q, step, m));
      }
    };
    load_a(0);
    device::ldmatrix_x4(b[0], k_at_.at(k, 0, 0));
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int n = 0; n < kNs; ++n) {
        const bool last = n == kNs - 1;
        if (kAhead == 1) {
          if (n == 0 && step > 0) load_a(step);
          if (n + step > 0) device::ldmatrix_x4(b[0], k_at_.at(k, step, n));
        } else if (!last || step + 1 < kSteps) {
          device::ldmatrix_x4(b[(n + 1) % kAhead],
                              k_at_.at(k, last ? step + 1 : step, last ? 0 : n + 1));
        }
        if (kAhead == 2 && n == kNs / 2 && step + 1 < kSteps) load_a(step + 1);
#pragma unroll
        for (int m = 0; m < kSixteens; ++m) {
          const uint32_t (&row)[4] = a[step % kAhead][m];
          device::mma_m16n8k16<Q>(scores.at[m][n * 2], row, b[n % kAhead][0], b[n % kAhead][1]);
          device::mma_m16n8k16<Q>(scores.at[m][n * 2 + 1], row, b[n % kAhead][2], b[n % kAhead][3]);
        }
      }
    }
    return scores;
  }

  // Runs `body(score, key)` for the scores of a lane's row, the key by its number from the lane's
  // first one on.
  template <typename Body>
  __device__ void each(Scores& scores, int m, int half, Body body) const {
#pragma unroll
    for (int n = 0; n < Shape::kKeys / 8; ++n) {
#pragma unroll
      for (int i = 0; i < 2; ++i) body(scores.at[m][n][half * 2 + i], n * 8 + i);
    }
  }

  __device__ int first_key() const { return lane_ % 4 * 2; }

  // To base-2 logits.
  __device__ void transform(Scores& scores, int first) const {
#pragma unroll
    for (int m = 0; m < kSixteens; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        Place at = place(row(m, half));
        each(scores, m, half, [&](float& score, int key) {
          at.key = first + first_key() + key;
          score = problem_.variant.transform(score * problem_.scale, at) * kLog2E;
        });
      }
    }
  }

  // Tells whether some row of the warp does not see all keys of the stage.
  __device__ bool crosses_border(int first) const {
    const int last = first + Shape::kKeys - 1;
    return last >= item_.end || last > borders_.lowest.last || first < borders_.highest.first;
  }

  // Tells whether some row of the warp may see some key of the stage. At both ends of the tile's
  // keys there are warps whose rows see none.
  __device__ bool sees(int first) const {
    return first <= borders_.highest.last && first + Shape::kKeys > borders_.lowest.first;
  }

  // Masks scores. Each lane finds the mask of one row, and gives it to the lanes with that row's
  // scores.
  __device__ void mask(Scores& scores, int first) const {
    const uint64_t own = seen(first_row_ + lane_ % Shape::kWarpRows, first);
#pragma unroll
    for (int m = 0; m < kSixteens; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int lane = m * 16 + half * 8 + lane_ / 4;
        const uint64_t bits = __shfl_sync(0xffffffff, own, lane) >> first_key();
        [[maybe_unused]] Place at;
        if constexpr (masks_singly<typename Config::Variant>) at = place(row(m, half));
        each(scores, m, half, [&](float& score, int key) {
          bool keeps = bits >> key & 1;
          if constexpr (masks_singly<typename Config::Variant>) {
            at.key = first + first_key() + key;
            keeps = keeps && keeps_singly(problem_.variant, at);
          }
          if (!keeps) score = -INFINITY;
        });
      }
    }
  }

  // A bit for each key of a stage: whether a row of the tile sees it.
  __device__ uint64_t seen(int row, int first) const {
    static_assert(Shape::kKeys <= 64, "a bit for each");
    Place at = place(row);
    const Span span = span_of(problem_, item_, at.query);
    const int low = max(span.first - first, 0);
    const int high = min(min(span.last, item_.end - 1) - first, 63);
    // Rows beyond the last see no key, and the variant is not asked about them.
    if (at.query >= item_.q_len || low > high) return 0;
    uint64_t bits = ~uint64_t{0} >> (63 - high) & ~uint64_t{0} << low;
    if constexpr (Config::Variant::kWords) {
      at.key = first;
      bits &= problem_.variant.words(at);
    }
    return bits;
  }

  // To the largest of these scores and of those before: what was summed up is to be multiplied with
  // the factors.
  __device__ void raise(const Scores& scores, float (&factors)[kSixteens][2]) {
#pragma unroll
    for (int m = 0; m < kSixteens; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float most = -INFINITY;
#pragma unroll
        for (int n = 0; n < Shape::kKeys / 8; ++n) {
          most = fmaxf(most, fmaxf(scores.at[m][n][half * 2], scores.at[m][n][half * 2 + 1]));
        }
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 1));
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 2));
        device::SoftmaxState state{most_[m][half], 0.0f};
        factors[m][half] = state.raise(most * scale());
        most_[m][half] = state.max;
      }
    }
  }

  __device__ float scale() const {
    return Config::Variant::kTransforms ? 1.0f : problem_.scale * kLog2E;
  }

  // Adds the values, by weights that follow from the scores, and the weights. Why all at once: the
  // exponentials of 16 keys, and the multiplications with the factors, are done while the tensor
  // cores are busy. With a branch around those, which are mostly by 1, they were not.
  __device__ void weigh(const Scores& scores, const float (&factors)[kSixteens][2],
                        ValueOperands v) {
    const float scale = this->scale();
    const uint32_t ones = device::packed<Q>(1.0f, 1.0f);
#pragma unroll
    for (int step = 0; step < Shape::kKeys / 16; ++step) {
      uint32_t a[kSixteens][4];
#pragma unroll
      for (int m = 0; m < kSixteens; ++m) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float* pair = &scores.at[m][step * 2 + i / 2][i % 2 * 2];
          const float most = most_[m][i % 2];
          a[m][i] = device::packed<Q>(device::fast_exp2(fmaf(pair[0], scale, -most)),
                                      device::fast_exp2(fmaf(pair[1], scale, -most)));
        }
        if (step == 0) multiply(weights_[m], factors[m]);
        device::mma_m16n8k16<Q>(weights_[m], a[m], ones, ones);
      }
#pragma unroll
      for (int d = 0; d < Shape::kValueColumns / 16; ++d) {
        uint32_t b[4];
        device::ldmatrix_x4_trans(b, v_at_.at(v, d, step));
#pragma unroll
        for (int m = 0; m < kSixteens; ++m) {
          float (&low)[4] = sums_[m][d * 2];
          float (&high)[4] = sums_[m][d * 2 + 1];
          if (step == 0) {
            multiply(low, factors[m]);
            multiply(high, factors[m]);
          }
          device::mma_m16n8k16<Q>(low, a[m], b[0], b[1]);
          device::mma_m16n8k16<Q>(high, a[m], b[2], b[3]);
        }
      }
    }
  }

  __device__ static void multiply(float (&sums)[4], const float (&factors)[2]) {
#pragma unroll
    for (int i = 0; i < 4; ++i) sums[i] *= factors[i / 2];
  }

  // A lane's share of a row, to the partial results or in shared memory.
  __device__ void store_row(int m, int half, Outputs staging) {
    const device::SoftmaxState state{most_[m][half], weights_[m][half * 2]};
    const int row = this->row(m, half);
    Place at = place(row);
    if (at.query >= item_.q_len) return;
    const bool first_lane = lane_ % 4 == 0 && first_value_ == 0;
    const int column = lane_ % 4 * 2;
    if (item_.partial >= 0) {
      const RowEnd end = end_part(state);
      const int64_t to = int64_t{item_.partial} + row;
      if (first_lane) store_partial_lse(problem_, to, kv_head_, end.lse);
#pragma unroll
      for (int d = 0; d < Shape::kValues / 8; ++d) {
        const auto& sums = sums_[m][d];
        const float values[2] = {sums[half * 2], sums[half * 2 + 1]};
        store_partial_out(problem_, to, kv_head_, first_value_ + d * 8 + column, values,
                          end.factor);
      }
      return;
    }
    const RowEnd end = end_row(problem_, state, at.head);
    if (first_lane) store_lse(problem_, item_.q_start + at.query, at.head, end.lse);
    using O = typename Config::O;
    static_assert(sizeof(O) <= sizeof(Q), "outputs are staged where the queries were");
    constexpr int kOfChunk = Outputs::kElementsPerChunk;
    static_assert(Shape::kValues % kOfChunk == 0, "rows are copied in whole chunks");
#pragma unroll
    for (int d = 0; d < Shape::kValues / 8; ++d) {
      const auto& sums = sums_[m][d];
      float values[2] = {sums[half * 2] * end.factor, sums[half * 2 + 1] * end.factor};
      if constexpr (Config::Variant::kOutputs) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          values[i] = problem_.variant.output(values[i], at, first_value_ + d * 8 + column + i);
        }
      }
      O* to = staging.chunk(row, d * 8 / kOfChunk) + d * 8 % kOfChunk + column;
      *reinterpret_cast<device::Vec<O, 2>*>(to) = device::from_float<O>(values);
    }
  }

  // The warp's rows, whole chunks at a time.
  __device__ void copy_out(Outputs staging) const {
    constexpr int kOfChunk = Outputs::kElementsPerChunk;
    constexpr int kChunks = Shape::kValues / kOfChunk;
    __syncwarp();
#pragma unroll 4
    for (int i = lane_; i < Shape::kWarpRows * kChunks; i += 32) {
      const int row = first_row_ + i / kChunks;
      const Place at = place(row);
      if (at.query >= item_.q_len) continue;
      auto* to = problem_.out.row(item_.q_start + at.query, at.head) + first_value_ +
                 i % kChunks * kOfChunk;
      *reinterpret_cast<uint4*>(to) =
          *reinterpret_cast<const uint4*>(staging.chunk(row, i % kChunks));
    }
  }

  const Problem<Config>& problem_;
  const Item& item_;
  const Borders& borders_;
  int kv_head_;
  int first_value_;
  int lane_;
  int first_row_;  // of the warp, in the tile
  Operand<Q, Shape::kColumns> q_at_;
  Operand<Q, Shape::kColumns> k_at_;
  Operand<Q, Shape::kValueColumns> v_at_;
  float sums_[kSixteens][Shape::kValueColumns / 8][4] = {};
  float weights_[kSixteens][4] = {};  // summed up: every column has the same
  float most_[kSixteens][2];          // the largest scores
};

// Blocks are of the items in their order, the longest first, each of all heads: it is these that
// run at once. On an H200, one head after another was 2 to 8 % slower, by the long tiles of the
// last.
template <typename Config>
__global__ void __launch_bounds__(PrefillShape<Config>::kThreads)
    PrefillKernel(const __grid_constant__ Problem<Config> problem) {
  using Shape = PrefillShape<Config>;
  using Q = typename Shape::Q;
  using KV = typename Shape::KV;
  extern __shared__ __align__(128) char shared[];

  const int thread = static_cast<int>(threadIdx.x);
  const auto part = [&](const char* name, int start, int bytes) {
    return device::shared_part(shared, name, start, bytes);
  };
  const Tile<Q, Shape::kColumns> q{shared, part("queries", 0, Shape::kQueryBytes)};
  const auto keys_at = [&](int stage) { return Shape::kQueryRoom + stage * Shape::kStageBytes; };
  const auto keys_of = [&](int stage) {
    return Tile<KV, Shape::kKeyUnits>{shared, part("keys", keys_at(stage), Shape::kKeysBytes)};
  };
  const auto values_of = [&](int stage) {
    const int start = keys_at(stage) + Shape::kKeysBytes;
    return Tile<KV, Shape::kValueUnits>{shared, part("values", start, Shape::kValuesBytes)};
  };
  [[maybe_unused]] const auto scales_of = [&](int stage) {
    const int start = keys_at(stage) + Shape::kKeysBytes + Shape::kValuesBytes;
    constexpr int kBytes = Shape::kKeyScalesBytes + Shape::kValueScalesBytes;
    return shared + part("scales", start, kBytes);
  };

  device::pdl_wait();
  const int block = static_cast<int>(blockIdx.x / Shape::kParts);
  const Share share = share_of(problem, block);
  const int kv_head = share.kv_head;
  const int first_value = static_cast<int>(blockIdx.x % Shape::kParts) * Shape::kPartStep;
  // Why in shared memory: what is looked at once a tile, or at the end, would take a tenth of the
  // registers.
  __shared__ Item item;
  __shared__ Borders borders[Shape::kWarps];
  __shared__ KeyRows<typename Config::Keys, Shape::kKeys> rows[2];
  if (thread == 0) item = problem.items[share.item];
  __syncthreads();
  if (item.request < 0) return;
  if (thread < Shape::kWarps) {
    const auto sees = [&](int row) {
      return span_of(problem, item, row_of(problem, item.row + row, kv_head).query);
    };
    borders[thread] = {sees(thread * Shape::kWarpRows),
                       sees(thread * Shape::kWarpRows + Shape::kWarpRows - 1)};
  }

  const int count = (item.end - item.begin + Shape::kKeys - 1) / Shape::kKeys;
  const auto first_of = [&](int tile) { return item.begin + tile * Shape::kKeys; };
  const auto find = [&](int tile) {
    rows[tile % 2].find(problem.keys, item.kv_start, first_of(tile), item.end, kv_head,
                        first_value);
  };

  copy_queries<Shape::kThreads>(q, problem, item, kv_head);
  if (count > 0) find(count - 1);
  __syncthreads();
  if (count > 0) {
    const int last = (count - 1) % 2;
    copy_last_keys<Shape::kThreads, Shape::kDim / kPackOf<KV>, Shape::kValues / kPackOf<KV>>(
        keys_of(last), values_of(last), rows[last]);
    if constexpr (Shape::kFp4) {
      copy_scales<Shape::kThreads, Shape::kDim, Shape::kValues>(scales_of(last), rows[last]);
    }
  }
  if (count > 1) find(count - 2);
  device::copy_commit();

  double* turns = reinterpret_cast<double*>(
      shared + part("turns", Shape::kSharedBytes - Shape::kTurnsBytes, Shape::kTurnsBytes));
  if constexpr (Config::kRope) {
    for (int i = thread; i < Shape::kDim / 2; i += Shape::kThreads) {
      turns[i] = problem.frequencies.turns(i);
    }
    device::copy_wait<0>();
    __syncthreads();
    rotate_queries<Shape::kThreads>(q, problem, item, kv_head, turns);
  }

  PrefillWarp<Config> warp(problem, item, borders[thread / 32], kv_head, first_value);
  const auto add = [&](int tile, auto copy) {
    const Tile<KV, Shape::kKeyUnits> k = keys_of(tile % 2);
    const Tile<KV, Shape::kValueUnits> v = values_of(tile % 2);
    [[maybe_unused]] const auto position_of = [&](int row) { return first_of(tile) + row; };
    if constexpr (Shape::kConverts) {
      constexpr int kBytes = Shape::kOperandBytes;
      const int operands_at = keys_at(Shape::kStages);
      const Tile<Q, Shape::kColumns> k_operand{shared, part("converted keys", operands_at, kBytes)};
      const Tile<Q, Shape::kValueColumns> v_operand{
          shared, part("converted values", operands_at + kBytes, Shape::kValueOperandBytes)};
      if constexpr (Shape::kFp4) {
        const char* scales = scales_of(tile % 2);
        widen_fp4_rows<Shape::kKeys, Shape::kThreads>(k, scales, k_operand, thread);
        widen_fp4_rows<Shape::kKeys, Shape::kThreads>(v, scales + Shape::kKeyScalesBytes, v_operand,
                                                      thread);
      } else {
        if constexpr (Config::kRope) {
          rotate_rows<Shape::kKeys, Shape::kThreads, Shape::kDim>(k, k_operand, turns, position_of,
                                                                  thread);
        } else {
          convert_rows<Shape::kKeys, Shape::kThreads>(k, k_operand, thread);
        }
        convert_rows<Shape::kKeys, Shape::kThreads>(v, v_operand, thread);
      }
      __syncthreads();
      warp.add(q, k_operand, v_operand, first_of(tile), copy);
    } else {
      if constexpr (Config::kRope) {
        rotate_rows<Shape::kKeys, Shape::kThreads, Shape::kDim>(k, k, turns, position_of, thread);
        __syncthreads();
      }
      warp.add(q, k, v, first_of(tile), copy);
    }
  };
  for (int tile = count - 1; tile >= 0; --tile) {
    // The tile has arrived, and no warp reads the one before any more, whose stage the next takes.
    device::copy_wait<0>();
    __syncthreads();
    if (tile > 1) find(tile - 2);
    add(tile, [&] {
      if (tile == 0) return;
      const int next = (tile - 1) % 2;
      copy_keys<Shape::kThreads, Shape::kDim / kPackOf<KV>, Shape::kValues / kPackOf<KV>>(
          keys_of(next), values_of(next), rows[next]);
      if constexpr (Shape::kFp4) {
        copy_scales<Shape::kThreads, Shape::kDim, Shape::kValues>(scales_of(next), rows[next]);
      }
      device::copy_commit();
    });
  }
  device::copy_wait<0>();
  __syncthreads();
  warp.store({shared, part("outputs", 0, Shape::kOutBytes)});
  device::pdl_trigger();
}

// For any items of 64 or 128 rows; parts of split ones are for MergeParts to merge.
template <typename Config>
cudaError_t Prefill(const Problem<Config>& problem, cudaStream_t stream, bool pdl) {
  using Shape = PrefillShape<Config>;
  device::LaunchConfig config;
  config.grid = dim3(blocks_of(problem) * Shape::kParts);
  config.block = dim3(Shape::kThreads);
  config.stream = stream;
  config.shared_bytes = Shape::kSharedBytes;
  config.pdl = pdl;
  return device::launch<PrefillKernel<Config>>(config, problem);
}

}  // namespace fictl::attention
