// The tile of prefill for Hopper, and the shared memory of a block.
//
//   queries   kRows of one head of keys        once a tile
//   keys      kStages of kKeys                 a ring
//   values    kStages of kKeys                 a ring of its own: they are released later
//   outputs   kRows, on their way out          in place of the queries where there is no room
//   loader    what a copying warpgroup needs   addresses of rows; staging buffers
//
// All lie in panels of 64 dims: rows of 128 bytes, swizzled, as bulk copies write and wgmma reads
// them. Along the dims, queries and keys are K-major; values are MN-major. Keys and values lie
// panel after panel; those of pages in groups of 8 tokens with all their panels, so that a page is
// one box, whatever its size: a box for each panel of 16 tokens kept the copy engine busy for
// longer than the products take. Of 8 bits, a panel has 128 dims, and values are transposed: a row
// for each dim.
#pragma once

#include <stdint.h>

#include <type_traits>

#include <fictl/attention/head_shape.cuh>
#include <fictl/attention/keys.cuh>
#include <fictl/attention/problem.cuh>
#include <fictl/attention/tile.cuh>
#include <fictl/device/hopper/accumulator.cuh>
#include <fictl/device/hopper/ring.cuh>
#include <fictl/device/hopper/swizzle.cuh>

namespace fictl::attention::sm90 {

constexpr int kPanel = 64;  // dims: 128 bytes of 16-bit values
constexpr int kRowBytes = 128;
constexpr int kSharedBytes = 232448;  // of a block, on sm_90

// Tells whether rows of keys are copied one by one: Config::kGathers, or false.
template <typename Config, typename = void>
struct Gathers : std::false_type {};
template <typename Config>
struct Gathers<Config, std::void_t<decltype(Config::kGathers)>>
    : std::bool_constant<Config::kGathers> {};

template <typename Keys>
constexpr bool kIsPaged = false;
template <typename T>
constexpr bool kIsPaged<PagedKeys<T>> = true;

template <typename Keys>
constexpr bool kIsRagged = false;
template <typename T>
constexpr bool kIsRagged<RaggedKeys<T>> = true;

template <typename Keys>
constexpr bool kIsRuns = false;
template <typename T>
constexpr bool kIsRuns<RunKeys<T>> = true;

// Where the rows of a stage's keys, or values, are.
template <int kPanels_, int kKeys, int kRow, bool kGroups>
struct StageLayout {
  static constexpr int kPanels = kPanels_;
  static constexpr int kBytes = kPanels * kKeys * kRow;
  // From a panel to the next, and from 8 tokens to the next 8.
  static constexpr int kPanelBytes = (kGroups ? 8 : kKeys) * kRow;
  static constexpr int kGroupBytes = (kGroups ? kPanels : 1) * 8 * kRow;

  __device__ static constexpr int offset(int row, int panel) {
    return panel * kPanelBytes + row / 8 * kGroupBytes + row % 8 * kRow;
  }
};

template <typename Config_>
struct Tile {
  using Config = Config_;
  using Q = typename Config::Q;
  static_assert(sizeof(typename Config::O) <= 2,
                "outputs are of 16 bits, or of 8 in half the room");

  // Queries, keys and values of 8 bits: values are transposed on their way to their stage, for
  // which a warpgroup copies them to staging buffers.
  static constexpr bool kFp8 = sizeof(Q) == 1;
  static_assert(!kFp8 || std::is_same_v<Q, typename Config::Keys::Element>, "all of one type");
  // Keys and values of 8 bits for queries of 16 are converted on that way.
  static constexpr bool kWidens = sizeof(typename Config::Keys::Element) < sizeof(Q);
  // Stages of keys in runs are boxes where a run has all of them, and copied otherwise.
  static constexpr bool kRuns = kIsRuns<typename Config::Keys> && !kWidens && !kFp8;
  // Values of tokens behind one another are boxes on their way to be transposed.
  static constexpr bool kTransposesBoxes = kFp8 && kIsRagged<typename Config::Keys>;
  static constexpr bool kGathers = Gathers<Config>::value || kWidens || kFp8 || kRuns;
  static constexpr bool kBoxes = !kGathers || kRuns || kTransposesBoxes;  // bulk copies bring keys
  // True where bulk copies bring boxes of pages.
  static constexpr bool kPaged = kIsPaged<typename Config::Keys> && !kGathers;
  static constexpr int kRows = Config::kRows;
  static constexpr int kKeys = Config::kKeys;
  static constexpr int kDim = Config::kHeadDim;
  static constexpr int kValueDim = kValueDimOf<Config>;
  static constexpr int kStages = kFp8 ? 3 : 2;
  static constexpr int kConsumers = kRows / device::kWgmmaM;  // warpgroups of 64 rows
  static constexpr int kConsumerWarps = kConsumers * 4;
  static constexpr int kThreads = (1 + kConsumers) * device::kWarpgroup;
  static_assert(kRows % device::kWgmmaM == 0 && kConsumers >= 1 && kConsumers <= 3,
                "up to three warpgroups have 64 rows each");
  // A warpgroup of its own leaves room for another block, whose products hide its softmax.
  static constexpr int kBlocks = kConsumers == 1 ? 2 : 1;

  // Rows of queries and keys are in panels of 128 bytes, or of 64 where they have no more.
  static constexpr int kRow = kDim * static_cast<int>(sizeof(Q)) == 64 ? 64 : kRowBytes;
  static constexpr int kPanelDims = kRow / static_cast<int>(sizeof(Q));
  static constexpr auto kSwizzle = kRow == 64 ? device::Swizzle::k64 : device::Swizzle::k128;
  static_assert(kDim % kPanelDims == 0 && kValueDim % kPanel == 0, "whole panels");
  static_assert(kKeys % 16 == 0 && kKeys <= 256, "keys of a stage: 16 to a step of the values");

  // Registers a thread: the sum over the warpgroups is at most 504 for three of them, 512 for four,
  // and 256 for two, of which there are two blocks.
  // Conversions and permutations take more than copies, where the consumers leave it.
  static constexpr bool kMoreToProducer = kWidens || (kFp8 && (kValueDim <= 64 || kKeys <= 64));
  static constexpr int kProducerRegisters = kConsumers == 3 ? 32 : kMoreToProducer ? 56 : 40;
  static constexpr int kConsumerRegisters = kConsumers == 1   ? 256 - kProducerRegisters
                                            : kConsumers == 2 ? (kMoreToProducer ? 224 : 232)
                                                              : 160;

  // The warpgroups take turns at issuing products, so that the softmax of one lies under
  // the products of the other. Sums of more dims leave the tensor cores no gap to fill.
  static constexpr bool kPingPong = kValueDim <= 128 && kConsumers > 1;

  static constexpr int kQueryPanel = kRows * kRow;
  static constexpr int kOutPanel = kRows * kRowBytes;
  static constexpr int kQueryBytes = kDim / kPanelDims * kQueryPanel;
  using KeyLayout = StageLayout<kDim / kPanelDims, kKeys, kRow, kPaged>;
  using ValueLayout = StageLayout<kValueDim / kPanel, kKeys, kRowBytes, kPaged>;  // of 16 bits
  static constexpr int kKeyBytes = KeyLayout::kBytes;
  static constexpr int kValueBytes = kValueDim * kKeys * static_cast<int>(sizeof(Q));
  static constexpr int kOutBytes = kValueDim / kPanel * kOutPanel;
  static constexpr int kRingBytes = kStages * (kKeyBytes + kValueBytes);

  // One that is converted or transposed, and those that arrive meanwhile.
  static constexpr int kStagingBuffers = kFp8 ? 2 : 3;
  static constexpr int kStagingBytes = kWidens || kFp8 ? kKeys * kValueDim : 0;  // of each
  static constexpr int kRowTables = kGathers ? 3 : 0;
  static constexpr int kStagingAlignment = kTransposesBoxes ? int{device::kPatternBytes} : 16;
  static constexpr int kLoaderBytes = kStagingBuffers * kStagingBytes + kRowTables * kKeys * 16;

  // Outputs that lie where the queries were keep the next tile's queries waiting.
  static constexpr int kRoom =
      kSharedBytes / kBlocks - 2 * int{device::kPatternBytes} - kLoaderBytes;
  static constexpr bool kOutsApart = kQueryBytes + kRingBytes + kOutBytes <= kRoom;
  static_assert(kQueryBytes + kRingBytes <= kRoom, "the tile does not fit shared memory");
  static_assert(kOutsApart || kOutBytes <= kQueryBytes, "outputs fit where the queries were");
};

// One tile of work: an item for one head of the keys; -1 says that there is no more.
struct Work {
  Item item;
  int kv_head;
};

// Starts of the rows of a stage; `box`: the token of the first, if a bulk copy can bring them
// all, or -1.
template <typename Tile>
struct StageTable {
  KeyRows<typename Tile::Config::Keys, Tile::kKeys> rows;
  int box;
};

// Shared memory of loaders that copy rows.
template <typename Tile, bool kGathers = Tile::kGathers>
struct LoaderShared {
  alignas(Tile::kStagingAlignment)
      uint4 staging[Tile::kStagingBuffers][Tile::kStagingBytes == 0 ? 1 : Tile::kStagingBytes / 16];
  device::Mbarrier staged[Tile::kStagingBuffers];  // of values that come in boxes
  StageTable<Tile> tables[3];
  int next;  // tile of work
};
template <typename Tile>
struct LoaderShared<Tile, false> {};

// Named barriers; those of turns come last, one for each warpgroup.
enum Barrier { kValuesBarrier = 1, kProducerBarrier, kTurnBarrier };

template <typename Tile>
struct alignas(device::kPatternBytes) Shared {
  unsigned char queries[Tile::kQueryBytes];
  unsigned char keys[Tile::kStages][Tile::kKeyBytes];
  unsigned char values[Tile::kStages][Tile::kValueBytes];
  unsigned char outs[Tile::kOutsApart ? Tile::kOutBytes : 1];
  LoaderShared<Tile> loader;
  alignas(16) Work works[2];
  device::Ring<2> work_ring;
  device::Ring<1> query_ring;
  device::Ring<Tile::kStages> key_ring;
  device::Ring<Tile::kStages> value_ring;

  // Outputs of all rows, in panels of kQueryPanel bytes.
  __device__ unsigned char* out_panels() { return Tile::kOutsApart ? outs : queries; }
};

// Numbers of a launch beside the problem.
struct Loads {
  int box_rows;   // of keys in pages
  int tile_rows;  // that are used: as many as whole groups of heads have
  // From a head to the next in panels, of keys and values in pages: their boxes have all panels. 0:
  // heads are not whole panels apart, and boxes have 8 rows of one panel.
  int key_head_panels;
  int value_head_panels;
};

// The stages that an item's keys lie in. In pages they are counted from its first key down to a
// multiple of a box's rows, so that boxes lie within a page.
struct Stages {
  int base;
  int count;

  template <typename Tile>
  __device__ static Stages of(const Item& item, const Loads& loads) {
    const int base = Tile::kPaged ? item.begin - item.begin % loads.box_rows : item.begin;
    const int keys = item.end - base;
    return {base, item.end <= item.begin ? 0 : (keys + Tile::kKeys - 1) / Tile::kKeys};
  }

  // The first key of a stage.
  template <typename Tile>
  __device__ int first(int stage) const {
    return base + stage * Tile::kKeys;
  }
};

}  // namespace fictl::attention::sm90
