// Which loader brings the keys and values of a tile.
#pragma once

#include <type_traits>

#include <fictl/attention/sm90/gather.cuh>
#include <fictl/attention/sm90/load.cuh>
#include <fictl/attention/sm90/runs.cuh>
#include <fictl/attention/sm90/transpose.cuh>
#include <fictl/attention/sm90/transpose_boxes.cuh>
#include <fictl/attention/sm90/widen.cuh>

namespace fictl::attention::sm90 {

template <typename Tile>
using Loader = std::conditional_t<
    Tile::kFp8,
    std::conditional_t<Tile::kTransposesBoxes, BoxTransposingLoader<Tile>, TransposingLoader<Tile>>,
    std::conditional_t<Tile::kWidens, WideningLoader<Tile>,
                       std::conditional_t<Tile::kRuns, RunLoader<Tile>,
                                          std::conditional_t<Tile::kGathers, GatherLoader<Tile>,
                                                             BoxLoader<Tile>>>>>;

template <typename Tile, typename Config>
__device__ Loader<Tile> make_loader(Shared<Tile>& shared, const Problem<Config>& problem,
                                    const Loads& loads, const CUtensorMap& k_map,
                                    const CUtensorMap& v_map) {
  if constexpr (Tile::kRuns || Tile::kTransposesBoxes) {
    return Loader<Tile>(shared, problem, k_map, v_map);
  } else if constexpr (Tile::kGathers) {
    return Loader<Tile>(shared, problem);
  } else {
    return Loader<Tile>(problem, loads, k_map, v_map);
  }
}

}  // namespace fictl::attention::sm90
