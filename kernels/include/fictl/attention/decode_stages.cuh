// The ring of stages through which one warp's keys and values arrive. No other warp reads them: a
// warp waits for its own copies only, and the loop over the keys has no barrier of the block.
#pragma once

#include <fictl/attention/problem.cuh>
#include <fictl/attention/queries.cuh>
#include <fictl/attention/tile.cuh>
#include <fictl/device/copy.cuh>
#include <fictl/device/reduce.cuh>
#include <fictl/device/shared_parts.cuh>

namespace fictl::attention {

// The shape of a block of decode.cuh, which gives the reasons.
template <typename Config>
struct DecodeShape {
  using Q = Widened<typename Config::Q>;
  using KV = typename Config::Keys::Element;

  static constexpr int kRows = 16;
  static constexpr int kDim = Config::kHeadDim;
  static constexpr int kKeyBytes = kDim * static_cast<int>(sizeof(KV));
  // Keys and values are of fewer bits than what tensor cores take here.
  static constexpr bool kNarrow = sizeof(KV) < sizeof(Q);
  // Rotated keys of fewer bits need a place of their own; those of as many stay where they are.
  static constexpr bool kRotatesApart = Config::kRope && kNarrow;

  // 16 keys of 256 dims take as many bytes as 32 keys of 128 dims. A lane has no registers for the
  // scores of more.
  static constexpr bool kLarge = kDim > 128;
  static constexpr int kKeys = kRotatesApart || kLarge ? 16 : 4096 / kKeyBytes;
  static constexpr int kWarps = kLarge ? 2 : 4;
  static constexpr int kThreads = kWarps * device::kWarpSize;
  static constexpr int kStages = 2;
  // Blocks on an SM. Three leave 168 registers a thread; conversions need more.
  static constexpr int kBlocks = kNarrow && kDim == 128 ? 2 : 3;

  static constexpr int kTileBytes = kKeys * kKeyBytes;  // of a warp's keys, or its values
  static_assert((kTileBytes & (kTileBytes - 1)) == 0, "tiles lie at multiples of a power of two");
  static constexpr int kStageBytes = 2 * kWarps * kTileBytes;
  static constexpr int kRotatedBytes =
      kRotatesApart ? kWarps * kKeys * kDim * static_cast<int>(sizeof(Q)) : 0;
  static constexpr int kRingBytes = kStages * kStageBytes;
  static constexpr int kTurnsBytes =
      Config::kRope ? kDim / 2 * static_cast<int>(sizeof(double)) : 0;
  // In the end the ring has the sums of all warps: rows so long that the lanes of a warp store to
  // different banks.
  static constexpr int kSumsPitch = kDim + 8;
  static constexpr int kSumsBytes =
      kWarps * kRows * (kSumsPitch + 2) * static_cast<int>(sizeof(float));

  static constexpr int kQueryBytes = kRows * kDim * static_cast<int>(sizeof(Q));
  static constexpr int kRotatedAt =
      ((kRingBytes > kSumsBytes ? kRingBytes : kSumsBytes) + kQueryBytes - 1) / kQueryBytes *
      kQueryBytes;
  static constexpr int kTurnsAt = kRotatedAt + kRotatedBytes;
  static constexpr int kQueriesAt = kTurnsAt + kTurnsBytes;
  static constexpr int kSharedBytes = kQueriesAt + kQueryBytes;
};

// A place in a tile, by its distance in bytes. Why not Tile::chunk: all places of a lane differ
// from its first by a XOR with a constant, since tiles lie at multiples of their size. So a stage
// takes one register, where the compiler would keep every place of every tile in one of its own.
template <typename KeyTile>
__device__ void* place_in(KeyTile tile, int lane_offset, int constant) {
  return tile.shared + ((tile.start + lane_offset) ^ constant);
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
  using KeyTile = Tile<KV, Shape::kDim>;

  // The places of a tile's keys. If the whole tile is within a page, the first is enough; otherwise
  // every lane finds one or two.
  struct Found {
    typename Keys::At at[(Shape::kKeys + device::kWarpSize - 1) / device::kWarpSize];
    bool evenly;
  };

  __device__ DecodeStages(const Problem<Config>& problem, const Item& item, int kv_head,
                          char* shared)
      : problem_(problem),
        item_(item),
        kv_head_(kv_head),
        lane_(static_cast<int>(threadIdx.x) % device::kWarpSize),
        warp_(static_cast<int>(threadIdx.x) / device::kWarpSize),
        shared_(shared),
        of_key_(of_lane(problem.keys.k)),
        of_value_(of_lane(problem.keys.v)) {}

  // The position of a tile's first key. The tiles of the warps take turns.
  __device__ int first(int tile) const {
    return item_.begin + (tile * Shape::kWarps + warp_) * Shape::kKeys;
  }
  __device__ bool has(int tile) const { return first(tile) < item_.end; }

  __device__ KeyTile keys(int stage) const { return tile("keys", keys_at(stage)); }
  __device__ KeyTile values(int stage) const {
    return tile("values", keys_at(stage) + Shape::kStageBytes / 2);
  }

  // Asks for the indices of pages, which a later copy waits for.
  __device__ void find(int tile, Found& found) const {
    const int first = this->first(tile);
    const int last = item_.end - 1;
    if (first > last) return;
    found.evenly =
        first + Shape::kKeys <= item_.end && evenly_apart(problem_.keys, first, Shape::kKeys);
    if (found.evenly) {
      found.at[0] = problem_.keys.find(item_.kv_start, first);
      return;
    }
#pragma unroll
    for (int i = 0; i < static_cast<int>(sizeof(found.at) / sizeof(found.at[0])); ++i) {
      const int position = first + (i * device::kWarpSize + lane_) % Shape::kKeys;
      found.at[i] = problem_.keys.find(item_.kv_start, position < last ? position : last);
    }
  }

  __device__ void copy_keys(int tile, int stage, const Found& found) const {
    copy(tile, keys(stage), found, of_key_, step_of(problem_.keys.k),
         [&](auto at) { return problem_.keys.key(at, 0); });
  }
  __device__ void copy_values(int tile, int stage, const Found& found) const {
    copy(tile, values(stage), found, of_value_, step_of(problem_.keys.v),
         [&](auto at) { return problem_.keys.value(at, 0); });
  }

 private:
  static constexpr int kChunks = KeyTile::kChunks;
  static constexpr int kRows = device::kWarpSize / kChunks;  // that a warp copies at a time

  __device__ int keys_at(int stage) const {
    return stage * Shape::kStageBytes + warp_ * Shape::kTileBytes;
  }
  __device__ KeyTile tile(const char* name, int start) const {
    return {shared_, device::shared_part(shared_, name, start, Shape::kTileBytes)};
  }

  // The part of an address that is the same for all tiles: from the first head of a tile's first
  // row to where this lane reads. Why apart: it would be computed anew for each tile.
  template <typename Rows>
  __device__ int64_t of_lane(const Rows& rows) const {
    return kv_head_ * rows.head_pitch + lane_ / kChunks * step_of(rows) +
           lane_ % kChunks * KeyTile::kElementsPerChunk;
  }

  // Copies a tile as one group, which is empty after the last tile.
  template <typename RowOf>
  __device__ void copy(int tile, KeyTile to, const Found& found, int64_t of_lane, int64_t step,
                       RowOf row_of) const {
    const int lane_row = lane_ / kChunks;
    const int lane_offset = KeyTile::offset(lane_row, lane_ % kChunks);
    const int left = item_.end - first(tile);
    if (left > 0 && found.evenly) {
      const KV* from = row_of(found.at[0]) + of_lane;
      step *= kRows;
#pragma unroll
      for (int row = 0; row < Shape::kKeys; row += kRows, from += step) {
        device::copy_async(place_in(to, lane_offset, KeyTile::offset(row, 0)), from);
      }
    } else if (left > 0) {
      of_lane -= lane_row * step;
#pragma unroll
      for (int row = 0; row < Shape::kKeys; row += kRows) {
        const KV* own = row_of(found.at[row / device::kWarpSize]);
        const int lane = (row + lane_row) % device::kWarpSize;
        const auto from = reinterpret_cast<const KV*>(
            __shfl_sync(0xffffffff, reinterpret_cast<unsigned long long>(own), lane));
        // Rows after the last key are filled with zeros: a weight of 0 would not cancel a NaN
        // there.
        device::copy_async(place_in(to, lane_offset, KeyTile::offset(row, 0)), from + of_lane,
                           row + lane_row < left ? device::kChunkBytes : 0);
      }
    }
    device::copy_commit();
  }

  const Problem<Config>& problem_;
  const Item& item_;
  int kv_head_;
  int lane_;
  int warp_;
  char* shared_;
  int64_t of_key_;
  int64_t of_value_;
};

}  // namespace fictl::attention
