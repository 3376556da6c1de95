// Tensor maps of queries, keys and values, made on the host: boxes are panels of 64 dims.
//
//   queries        {dim, head, token}         box {64, group, tokens of a tile}
//   ragged keys    {dim, head, token}         box {64, 1, keys of a stage}; keys in runs, too
//   paged keys     {dim of a panel, slot of 8, panel of all heads, 8 slots, page}
//                                             box {64, 8, panels of a head, 8 slots ..., 1}
//
// Requests, heads and pages are coordinates. What a box has behind the last token is zero.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <numeric>

#include <fictl/attention/keys.cuh>
#include <fictl/attention/sm90/tile.cuh>
#include <fictl/device/hopper/tensor_map.cuh>

namespace fictl::attention::sm90 {

// How many tokens or pages there are in memory, which a problem does not say.
struct Extents {
  int64_t queries;  // tokens
  int64_t keys;     // tokens, or pages
};

template <typename T>
cudaError_t make_map(const device::TensorMapSpec& made, CUtensorMap* map) {
  device::TensorMapSpec spec = made;
  const bool is_narrow = spec.box[0] * spec.element_bytes == 64;
  spec.swizzle = is_narrow ? device::Swizzle::k64 : device::Swizzle::k128;
  return device::make_tensor_map(spec, map);
}

template <typename T>
cudaError_t map_heads(const Heads<const T>& from, int dim, int heads, int64_t tokens, int box_heads,
                      int box_tokens, CUtensorMap* map, int box_dims = kPanel) {
  using Element = std::conditional_t<sizeof(T) == 1, uint8_t, T>;
  return make_map<T>(device::TensorMapSpec::of(reinterpret_cast<const Element*>(from.data))
                         .with(dim, 1, box_dims)
                         .with(heads, device::usable_stride(heads, from.head_pitch), box_heads)
                         .with(tokens, device::usable_stride(tokens, from.token_pitch), box_tokens),
                     map);
}

// From a head to the next in panels, where they are whole panels apart; otherwise 0.
template <typename T>
int head_panels(const device::PagedRows<const T>& from, int dim, int heads) {
  if (heads == 1) return dim / kPanel;
  return from.head_pitch % kPanel == 0 ? static_cast<int>(from.head_pitch / kPanel) : 0;
}

template <typename T>
cudaError_t map_pages(const device::PagedRows<const T>& from, int dim, int heads, int page_size,
                      int64_t pages, int box_slots, int panels, CUtensorMap* map) {
  const int64_t page_pitch = device::usable_stride(pages, from.page_pitch);
  const int64_t slot_pitch = device::usable_stride(page_size, from.slot_pitch);
  if (panels == 0) {
    return make_map<T>(device::TensorMapSpec::of(from.data)
                           .with(dim, 1, kPanel)
                           .with(page_size, slot_pitch, box_slots)
                           .with(heads, from.head_pitch)
                           .with(pages, page_pitch),
                       map);
  }
  return make_map<T>(
      device::TensorMapSpec::of(from.data)
          .with(kPanel, 1, kPanel)
          .with(8, slot_pitch, 8)
          .with(int64_t{heads - 1} * panels + dim / kPanel, kPanel, dim / kPanel)
          .with(page_size / 8, device::usable_stride(page_size / 8, 8 * slot_pitch), box_slots / 8)
          .with(pages, page_pitch),
      map);
}

// Boxes of keys: of a stage, or of as many rows of a page as divide both.
template <typename Tile, typename T>
void plan_boxes(const RaggedKeys<T>&, int, Loads* loads) {
  loads->box_rows = Tile::kKeys;
}
template <typename Tile, typename T>
void plan_boxes(const RunKeys<T>&, int, Loads* loads) {
  loads->box_rows = Tile::kKeys;
}
template <typename Tile, typename T>
void plan_boxes(const PagedKeys<T>& keys, int heads, Loads* loads) {
  const int k = head_panels(keys.k, Tile::kDim, heads);
  const int v = head_panels(keys.v, Tile::kValueDim, heads);
  const bool whole = k > 0 && v > 0;
  loads->key_head_panels = whole ? k : 0;
  loads->value_head_panels = whole ? v : 0;
  loads->box_rows = whole ? std::gcd(Tile::kKeys, keys.page_size.divisor()) : 8;
}

template <typename Tile, typename T>
cudaError_t map_keys(const RaggedKeys<T>& keys, int heads, const Extents& extents, const Loads&,
                     CUtensorMap* k, CUtensorMap* v) {
  const cudaError_t status =
      map_heads(keys.k, Tile::kDim, heads, extents.keys, 1, Tile::kKeys, k, Tile::kPanelDims);
  if (status != cudaSuccess) return status;
  return map_heads(keys.v, Tile::kValueDim, heads, extents.keys, 1, Tile::kKeys, v,
                   Tile::kFp8 ? Tile::kPanelDims : kPanel);
}
template <typename Tile, typename T>
cudaError_t map_keys(const RunKeys<T>& keys, int heads, const Extents& extents, const Loads& loads,
                     CUtensorMap* k, CUtensorMap* v) {
  return map_keys<Tile>(RaggedKeys<T>{keys.k, keys.v}, heads, extents, loads, k, v);
}
template <typename Tile, typename T>
cudaError_t map_keys(const PagedKeys<T>& keys, int heads, const Extents& extents,
                     const Loads& loads, CUtensorMap* k, CUtensorMap* v) {
  const int page = keys.page_size.divisor();
  if (page % 8 != 0) return cudaErrorInvalidValue;  // a box begins where the swizzle does
  const cudaError_t status = map_pages(keys.k, Tile::kDim, heads, page, extents.keys,
                                       loads.box_rows, loads.key_head_panels, k);
  if (status != cudaSuccess) return status;
  return map_pages(keys.v, Tile::kValueDim, heads, page, extents.keys, loads.box_rows,
                   loads.value_head_panels, v);
}

}  // namespace fictl::attention::sm90
