// The ring of stages through which one warp's keys and values arrive. No other warp reads them: a
// warp waits for its own copies only, and the loop over the keys has no barrier of the block.
#pragma once

#include <fictl/attention/fp4_keys.cuh>
#include <fictl/attention/head_shape.cuh>
#include <fictl/attention/problem.cuh>
#include <fictl/attention/queries.cuh>
#include <fictl/attention/tile.cuh>
#include <fictl/device/copy.cuh>
#include <fictl/device/reduce.cuh>
#include <fictl/device/shared_parts.cuh>

namespace fictl::attention {

// The head of a Config in tiles of decode.cuh: a step along 8-bit keys is of two products.
template <typename Config>
using DecodeHead =
    HeadShape<Config, sizeof(typename Config::Keys::Element) == sizeof(Widened<typename Config::Q>)
                          ? 16
                          : 32>;

// A Config whose blocks have twice as many warps, and an SM for themselves.
template <typename Config>
struct WideDecode : Config {};
template <typename Config>
constexpr bool kIsWide = false;
template <typename Config>
constexpr bool kIsWide<WideDecode<Config>> = true;

// The shape of a block of decode.cuh, which gives the reasons.
template <typename Config>
struct DecodeShape : DecodeHead<Config> {
  using Head = DecodeHead<Config>;
  using KV = typename Config::Keys::Element;
  static constexpr bool kFp4 = kIsFp4<typename Config::Keys>;
  // Products with keys of fewer bits are of fp16, which they become by one instruction for two,
  // where bf16 takes four: queries of bf16 are scaled by row. Rotated keys are as queries are.
  static constexpr bool kScalesRows = kFp4 || (sizeof(KV) == 1 && !Config::kRope &&
                                               std::is_same_v<typename Config::Q, __nv_bfloat16>);
  using Q = std::conditional_t<kScalesRows, __half, Widened<typename Config::Q>>;  // of products

  // Half as many rows, where the heads that share keys of four bits are so few: decode_fp4.cuh.
  static constexpr bool kFewRows = Config::kRows == 8;
  static constexpr int kRows = kFewRows ? 8 : 16;
  static_assert(kFp4 || !kFewRows, "tiles of 8 rows are for four bits");
  // Keys and values are of fewer bits than what tensor cores take here.
  static constexpr bool kNarrow = sizeof(KV) < sizeof(Q);
  // Columns of tiles of keys, and of values, in units of KV.
  static constexpr int kKeyUnits = Head::kColumns / kPackOf<KV>;
  static constexpr int kValueUnits = Head::kValueColumns / kPackOf<KV>;
  // Rotated keys of fewer bits need a place of their own; those of as many stay where they are.
  static constexpr bool kRotatesApart = Config::kRope && kNarrow;
  // Keys and values are tiles of one size, which is a power of two, and is copied whole.
  static constexpr bool kEven =
      Head::kColumns == Head::kValueColumns && (Head::kColumns & (Head::kColumns - 1)) == 0 &&
      Head::kColumns <= 256 && Head::kDim == Head::kColumns && Head::kValues == Head::kValueColumns;

  // 16 keys of 256 dims take as many bytes as 32 keys of 128 dims. A lane has no registers for the
  // scores of more.
  static constexpr int kMost =
      Head::kColumns > Head::kValueColumns ? Head::kColumns : Head::kValueColumns;
  static constexpr bool kLarge = kMost > 128;
  static constexpr int kKeys = kRotatesApart || kLarge || kMost * sizeof(KV) > 128 ? 16
                               : !kEven || kFp4 || kMost * sizeof(KV) > 64         ? 32
                                                                                   : 64;
  static constexpr int kWarps = (kMost > 256 ? 1 : kLarge ? 2 : 4) * (kIsWide<Config> ? 2 : 1);
  static constexpr int kThreads = kWarps * device::kWarpSize;
  // Stages of four bits are half as large: three are as many bytes in flight.
  static constexpr int kStages = kFp4 ? 3 : 2;
  // Blocks on an SM. Three leave 168 registers a thread; conversions need more.
  static constexpr int kBlocks = kIsWide<Config>                             ? 1
                                 : kNarrow && !kFp4 && kMost > 64 && !kLarge ? 2
                                                                             : 3;

  // Tiles of scores, and of sums, that a warp has: of 8 keys or dims for 16 rows, or of 16 for 8.
  static constexpr int kOfTile = 128 / kRows;
  static constexpr int kScores = kKeys / kOfTile;
  static constexpr int kSums = Head::kValueColumns / kOfTile;
  // Registers that a lane has of the queries of one product.
  static constexpr int kQueryWords = kRows / 4;

  // Bytes of a warp's keys, and of its values.
  static constexpr int kKeysBytes = kKeys * kKeyUnits * static_cast<int>(sizeof(KV));
  static constexpr int kValuesBytes = kKeys * kValueUnits * static_cast<int>(sizeof(KV));
  static_assert(!kEven || (kKeysBytes & (kKeysBytes - 1)) == 0,
                "tiles lie at multiples of a power of two");
  static constexpr int kStageBytes = kWarps * (kKeysBytes + kValuesBytes);
  static constexpr int kRotatedBytes =
      kRotatesApart ? kWarps * kKeys * Head::kColumns * static_cast<int>(sizeof(Q)) : 0;
  static constexpr int kRingBytes = kStages * kStageBytes;
  static constexpr int kTurnsBytes =
      Config::kRope ? Head::kDim / 2 * static_cast<int>(sizeof(double)) : 0;
  // In the end the ring has the sums of all warps: rows so long that the lanes of a warp store to
  // different banks.
  static constexpr int kSumsPitch = Head::kValueColumns + 8;
  static constexpr int kSumsBytes =
      kWarps * kRows * (kSumsPitch + 2) * static_cast<int>(sizeof(float));

  static constexpr int kQueryBytes = kRows * Head::kColumns * static_cast<int>(sizeof(Q));
  static constexpr int kRotatedAt =
      ((kRingBytes > kSumsBytes ? kRingBytes : kSumsBytes) + kQueryBytes - 1) / kQueryBytes *
      kQueryBytes;
  static constexpr int kTurnsAt = kRotatedAt + kRotatedBytes;
  static constexpr int kQueriesAt = kTurnsAt + kTurnsBytes;
  // Scales of four bits: rows of keys, then of values, of each warp and stage.
  static constexpr int kScalesAt = kQueriesAt + kQueryBytes;
  static constexpr int kKeyScalesBytes = kFp4 ? kKeys * Head::kDim / kFp4Block : 0;
  static constexpr int kValueScalesBytes = kFp4 ? kKeys * Head::kValues / kFp4Block : 0;
  static constexpr int kScalesBytes = kKeyScalesBytes + kValueScalesBytes;
  static_assert(!kFp4 || kEven, "heads of four bits are of 64, 128 or 256 elements");
  static constexpr int kRowScalesAt = kScalesAt + kStages * kWarps * kScalesBytes;
  static constexpr int kRowScalesBytes = kScalesRows ? kRows * static_cast<int>(sizeof(float)) : 0;
  static constexpr int kSharedBytes = kRowScalesAt + kRowScalesBytes;
};

// A place in a tile: as far from its first row as `row`, a multiple of 8, and an even number of
// chunks further in it. Why not Tile::chunk: of tiles that lie at multiples of their size, kEven,
// all places of a lane differ from its first by a XOR with a constant. So a stage takes one
// register, where the compiler would keep every place of every tile in one of its own.
template <bool kEven, typename KeyTile>
__device__ void* place_in(KeyTile tile, int lane_offset, int row, int chunk) {
  if constexpr (kEven) {
    return tile.shared + ((tile.start + lane_offset) ^ KeyTile::offset(row, chunk));
  } else {
    return tile.shared + tile.start + KeyTile::further(lane_offset, chunk) +
           row * KeyTile::kRowBytes;
  }
}

// Positions from `first` on: evenly_apart() tells whether so many of them are evenly spaced, and
// step_of() gives the stride between them, in elements.
template <typename T>
__device__ bool evenly_apart(const RaggedKeys<T>&, int /*first*/, int /*count*/) {
  return true;
}
template <typename T>
__device__ bool evenly_apart(const PagedKeys<T>& keys, int first, int count) {
  return keys.page_size.divide(first).remainder + count <= keys.page_size.divisor();
}
__device__ inline bool evenly_apart(const PagedFp4Keys& keys, int first, int count) {
  return keys.page_size.divide(first).remainder + count <= keys.page_size.divisor();
}
template <typename T>
__device__ bool evenly_apart(const RunKeys<T>&, int /*first*/, int /*count*/) {
  return false;
}
template <typename T>
__device__ int64_t step_of(const Heads<T>& rows) {
  return rows.token_pitch;
}
template <typename T>
__device__ int64_t step_of(const device::PagedRows<T>& rows) {
  return rows.slot_pitch;
}

template <typename Config>
class DecodeStages {
  using Shape = DecodeShape<Config>;
  using Keys = typename Config::Keys;
  using KV = typename Shape::KV;

 public:
  using KeyTile = Tile<KV, Shape::kKeyUnits>;
  using ValueTile = Tile<KV, Shape::kValueUnits>;

  // Keys that are within a page if it has as many, as most do. More places of 64 keys would take
  // too many registers.
  static constexpr int kGroup = Shape::kKeys < 64 ? 16 : 32;

  // The places of a tile's keys. If each group is within a page, its first is enough; otherwise
  // every lane finds one or two.
  struct Found {
    typename Keys::At at[Shape::kKeys / kGroup];
    bool evenly;
  };

  __device__ DecodeStages(const Problem<Config>& problem, const Item& item, int kv_head,
                          int first_value, char* shared)
      : problem_(problem),
        item_(item),
        kv_head_(kv_head),
        lane_(static_cast<int>(threadIdx.x) % device::kWarpSize),
        warp_(static_cast<int>(threadIdx.x) / device::kWarpSize),
        shared_(shared),
        of_key_(of_lane(problem.keys.k)),
        of_value_(of_lane(problem.keys.v) + first_value) {
    if constexpr (Shape::kFp4) {
      of_key_scales_ = of_lane_scales(problem.keys.k_scales);
      of_value_scales_ = of_lane_scales(problem.keys.v_scales);
    }
  }

  // The position of a tile's first key. The tiles of the warps take turns.
  __device__ int first(int tile) const {
    return item_.begin + (tile * Shape::kWarps + warp_) * Shape::kKeys;
  }
  __device__ bool has(int tile) const { return first(tile) < item_.end; }

  __device__ KeyTile keys(int stage) const {
    const int start = stage * Shape::kStageBytes + warp_ * Shape::kKeysBytes;
    return {shared_, device::shared_part(shared_, "keys", start, Shape::kKeysBytes)};
  }
  __device__ ValueTile values(int stage) const {
    const int start = stage * Shape::kStageBytes + warp_ * Shape::kValuesBytes +
                      Shape::kWarps * Shape::kKeysBytes;
    return {shared_, device::shared_part(shared_, "values", start, Shape::kValuesBytes)};
  }

  // Scales of a stage's keys and of its values, where they are of four bits: a row for each.
  __device__ char* key_scales(int stage) const {
    const int start = Shape::kScalesAt + (stage * Shape::kWarps + warp_) * Shape::kScalesBytes;
    return shared_ + device::shared_part(shared_, "key scales", start, Shape::kKeyScalesBytes);
  }
  __device__ char* value_scales(int stage) const {
    const int start = Shape::kScalesAt + (stage * Shape::kWarps + warp_) * Shape::kScalesBytes +
                      Shape::kKeyScalesBytes;
    return shared_ + device::shared_part(shared_, "value scales", start, Shape::kValueScalesBytes);
  }

  // Asks for the indices of pages, which a later copy waits for.
  __device__ void find(int tile, Found& found) const {
    const int first = this->first(tile);
    const int last = item_.end - 1;
    if (first > last) return;
    found.evenly = first + Shape::kKeys <= item_.end;
#pragma unroll
    for (int key = 0; key < Shape::kKeys; key += kGroup) {
      found.evenly = found.evenly && evenly_apart(problem_.keys, first + key, kGroup);
    }
    if (found.evenly) {
#pragma unroll
      for (int key = 0; key < Shape::kKeys; key += kGroup) {
        found.at[key / kGroup] = problem_.keys.find(item_.kv_start, first + key);
      }
      return;
    }
#pragma unroll
    for (int i = 0; i < kFoundByLane; ++i) {
      const int position = first + (i * device::kWarpSize + lane_) % Shape::kKeys;
      found.at[i] = problem_.keys.find(item_.kv_start, position < last ? position : last);
    }
  }

  __device__ void copy_keys(int tile, int stage, const Found& found) const {
    if constexpr (Shape::kFp4) {
      copy_scales<Shape::kDim>(tile, key_scales(stage), found, of_key_scales_,
                               problem_.keys.k_scales.slot_pitch,
                               [&](auto at) { return problem_.keys.key_scales(at, 0); });
    }
    copy<Shape::kDim>(tile, keys(stage), found, of_key_, step_of(problem_.keys.k),
                      [&](auto at) { return problem_.keys.key(at, 0); });
  }
  __device__ void copy_values(int tile, int stage, const Found& found) const {
    if constexpr (Shape::kFp4) {
      copy_scales<Shape::kValues>(tile, value_scales(stage), found, of_value_scales_,
                                  problem_.keys.v_scales.slot_pitch,
                                  [&](auto at) { return problem_.keys.value_scales(at, 0); });
    }
    copy<Shape::kValues>(tile, values(stage), found, of_value_, step_of(problem_.keys.v),
                         [&](auto at) { return problem_.keys.value(at, 0); });
  }

 private:
  static constexpr int kFoundByLane = (Shape::kKeys + device::kWarpSize - 1) / device::kWarpSize;

  // The part of an address that is the same for all tiles: from the first head of a tile's first
  // row to where this lane reads. Why apart: it would be computed anew for each tile.
  template <typename Rows>
  __device__ int64_t of_lane(const Rows& rows) const {
    const int64_t of_head = kv_head_ * rows.head_pitch;
    if constexpr (!Shape::kEven) return of_head;
    constexpr int kChunks = KeyTile::kChunks;
    return of_head + lane_ / kChunks * step_of(rows) + lane_ % kChunks * KeyTile::kElementsPerChunk;
  }

  // The same of the scales of a tile's rows, of which a lane copies one.
  template <typename Rows>
  __device__ int64_t of_lane_scales(const Rows& rows) const {
    return kv_head_ * rows.head_pitch + lane_ % kGroup * rows.slot_pitch;
  }

  // Copies the scales of rows of kElements, a row by each lane; of those that are not there, zeros.
  // They are of the group of the copy that follows.
  template <int kElements, typename RowOf>
  __device__ void copy_scales(int tile, char* to, const Found& found, int64_t of_lane, int64_t step,
                              RowOf row_of) const {
    static_assert(Shape::kKeys <= device::kWarpSize, "a lane copies one row");
    constexpr int kBytes = kElements / kFp4Block;
    const int left = item_.end - first(tile);
    if (left <= 0 || lane_ >= Shape::kKeys) return;
    static_assert(Shape::kKeys == 2 * kGroup || Shape::kKeys == kGroup, "one or two groups");
    const bool is_second = found.evenly && lane_ >= kGroup;
    const uint8_t* from =
        row_of(is_second ? found.at[Shape::kKeys / kGroup - 1] : found.at[0]) + of_lane;
    if (!found.evenly) from -= lane_ % kGroup * step;
    device::copy_async_few<kBytes>(to + lane_ * kBytes, from, lane_ < left ? kBytes : 0);
  }

  // Copies a tile of rows of kElements as one group, which is empty after the last tile.
  template <int kElements, typename To, typename RowOf>
  __device__ void copy(int tile, To to, const Found& found, int64_t of_lane, int64_t step,
                       RowOf row_of) const {
    const int left = item_.end - first(tile);
    if constexpr (!Shape::kEven) {
      if (left > 0) copy_chunks<kElements>(to, found, of_lane, step, row_of, left);
    } else if (left > 0 && found.evenly) {
#pragma unroll
      for (int key = 0; key < Shape::kKeys; key += kGroup) {
        copy_even_rows(to, key, row_of(found.at[key / kGroup]) + of_lane, step);
      }
    } else if (left > 0) {
      copy_rows_found(to, found, of_lane - lane_ / To::kChunks * step, row_of, left);
    }
    device::copy_commit();
  }

  // Copies the rows of a group, from `first` on, which are evenly spaced, and all there: from where
  // this lane reads the first.
  template <typename To>
  __device__ void copy_even_rows(To to, int first, const KV* from, int64_t step) const {
    constexpr int kRows = device::kWarpSize / To::kChunks;  // at a time
    static_assert(kRows <= kGroup, "no lane is beyond the group");
    const int lane_offset = To::offset(lane_ / To::kChunks, lane_ % To::kChunks);
    step *= kRows;
#pragma unroll
    for (int row = 0; row < kGroup; row += kRows, from += step) {
      device::copy_async(place_of_row(to, lane_offset, first + row), from);
    }
  }

  // Copies the `left` first rows, each from where a lane has found it.
  template <typename To, typename RowOf>
  __device__ void copy_rows_found(To to, const Found& found, int64_t of_lane, RowOf row_of,
                                  int left) const {
    constexpr int kRows = device::kWarpSize / To::kChunks;  // at a time
    const int lane_row = lane_ / To::kChunks;
    const int lane_offset = To::offset(lane_row, lane_ % To::kChunks);
#pragma unroll
    for (int row = 0; row < Shape::kKeys; row += kRows) {
      const KV* own = row_of(found.at[row / device::kWarpSize]);
      const int lane = (row + lane_row) % device::kWarpSize;
      const auto from = reinterpret_cast<const KV*>(
          __shfl_sync(0xffffffff, reinterpret_cast<unsigned long long>(own), lane));
      // Rows after the last key are filled with zeros: a weight of 0 would not cancel a NaN there.
      device::copy_async(place_of_row(to, lane_offset, row), from + of_lane,
                         row + lane_row < left ? device::kChunkBytes : 0);
    }
  }

  template <typename To>
  static __device__ void* place_of_row(To to, int lane_offset, int row) {
    return to.shared + ((to.start + lane_offset) ^ To::offset(row, 0));
  }

  // The same for rows of any number of chunks, which lanes take in turn. Those beyond the head's
  // elements are zeros.
  template <int kElements, typename To, typename RowOf>
  __device__ void copy_chunks(To to, const Found& found, int64_t of_head, int64_t step,
                              RowOf row_of, int left) const {
    static_assert(Shape::kKeys <= device::kWarpSize, "a lane finds one row");
    static_assert(Shape::kKeys * To::kChunks % device::kWarpSize == 0, "all lanes copy");
    constexpr int kOfChunk = To::kElementsPerChunk;
    constexpr int kAtOnce = Shape::kNarrow && Shape::kLarge ? 1 : 4;  // Conversions need registers.
    const KV* own = row_of(found.at[0]) + of_head;
    const KV* second = own;  // where the second group begins
    if constexpr (Shape::kKeys > kGroup) {
      if (found.evenly) second = row_of(found.at[1]) + of_head;
    }
#pragma unroll kAtOnce
    for (int i = lane_; i < Shape::kKeys * To::kChunks; i += device::kWarpSize) {
      const int row = i / To::kChunks;
      const int chunk = i % To::kChunks;
      const KV* from = (row < kGroup ? own : second) + row % kGroup * step;
      if (!found.evenly) {
        from = reinterpret_cast<const KV*>(
            __shfl_sync(0xffffffff, reinterpret_cast<unsigned long long>(own), row));
      }
      const bool is_there = row < left && chunk * kOfChunk < kElements;
      device::copy_async(to.chunk(row, chunk), from + chunk * kOfChunk,
                         is_there ? device::kChunkBytes : 0);
    }
  }

  const Problem<Config>& problem_;
  const Item& item_;
  int kv_head_;
  int lane_;
  int warp_;
  char* shared_;
  int64_t of_key_;
  int64_t of_value_;
  int64_t of_key_scales_ = 0;
  int64_t of_value_scales_ = 0;
};

}  // namespace fictl::attention
