// The numbers of a tile on tensor cores. A Config that fictl renders has them from _tiles.py, which
// decides. Configs that are written by hand, as those of with_kv_cache.cuh, get the defaults here,
// and a test holds that these are the table's.
#pragma once

#include <type_traits>

#include <fictl/attention/head_shape.cuh>

namespace fictl::attention {

struct DefaultTile {
  static constexpr int kMost = 512;  // elements of a head

  // Keys and values of a stage of prefill. Longer heads leave shared memory for half as many.
  static constexpr int keys(HeadDims dims) { return dims.are_within(128, 128) ? 64 : 32; }

  // Rows of a warp of prefill.
  static constexpr int warp_rows(int rows) { return rows == 128 ? 32 : 16; }

  // Blocks that share an SM.
  static constexpr int blocks(int rows, HeadDims dims) {
    if (rows == 16) return 3;
    return dims.are_within(256, 256) ? 2 : 1;
  }

  static constexpr bool is_known(int rows, HeadDims dims) {
    if (rows == 128) return dims.are_within(160, 160) || dims.are_within(192, 128);
    return (rows == 16 || rows == 64) && dims.are_within(kMost, kMost);
  }
};

template <typename Config, typename = void>
struct TileShape {
  static constexpr HeadDims kDims = {Config::kHeadDim, kValueDimOf<Config>};
  static_assert(DefaultTile::is_known(Config::kRows, kDims),
                "tiles are of 16 rows, 64, or 128 where heads have no more than 160 elements, or "
                "192 of keys and 128 of values");
  static constexpr int kKeys = DefaultTile::keys(kDims);
  static constexpr int kWarpRows = DefaultTile::warp_rows(Config::kRows);
};

template <typename Config>
struct TileShape<Config, std::void_t<decltype(Config::kKeys), decltype(Config::kWarpRows)>> {
  static constexpr int kKeys = Config::kKeys;
  static constexpr int kWarpRows = Config::kWarpRows;
};

}  // namespace fictl::attention
