// The numbers of a tile on tensor cores. A Config that fictl renders has them from _tiles.py, which
// decides. Configs that are written by hand, as those of with_kv_cache.cuh, get the defaults here,
// and a test holds that these are the table's.
#pragma once

#include <type_traits>

namespace fictl::attention {

struct DefaultTile {
  // Keys and values of a stage of prefill. Heads of 256 leave shared memory for half as many.
  static constexpr int keys(int head_dim) { return head_dim <= 128 ? 64 : 32; }

  // Rows of a warp of prefill.
  static constexpr int warp_rows(int rows, int head_dim) {
    return rows == 128 && head_dim <= 128 ? 32 : 16;
  }

  // Blocks that share an SM.
  static constexpr int blocks(int rows) { return rows == 16 ? 3 : 2; }

  static constexpr bool is_known(int rows, int head_dim) {
    return rows == 16 || rows == 64 || (rows == 128 && head_dim <= 128);
  }
};

template <typename Config, typename = void>
struct TileShape {
  static_assert(DefaultTile::is_known(Config::kRows, Config::kHeadDim),
                "tiles are of 16 rows, 64, or 128 where heads are of no more than 128 elements");
  static constexpr int kKeys = DefaultTile::keys(Config::kHeadDim);
  static constexpr int kWarpRows = DefaultTile::warp_rows(Config::kRows, Config::kHeadDim);
};

template <typename Config>
struct TileShape<Config, std::void_t<decltype(Config::kKeys), decltype(Config::kWarpRows)>> {
  static constexpr int kKeys = Config::kKeys;
  static constexpr int kWarpRows = Config::kWarpRows;
};

}  // namespace fictl::attention
