// Tensor maps of queries, keys and values, made on the host: boxes are panels of 64 dims.
//
//   queries        {dim, head, token}         box {64, group, tokens of a tile}
//   ragged keys    {dim, head, token}         box {64, 1, keys of a stage}; keys in runs, too
//   paged keys     {dim, slot, head, page}    box {64, slots, 1, 1}
//
// Requests, heads and pages are coordinates. What a box has behind the last token is zero.
#pragma once

#include <stdint.h>

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

// A stride that a map accepts: that of a dimension of one element may be anything.
inline int64_t usable_stride(int64_t extent, int64_t stride) {
  return extent > 1 ? stride : kPanel;
}

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
                         .with(heads, usable_stride(heads, from.head_pitch), box_heads)
                         .with(tokens, usable_stride(tokens, from.token_pitch), box_tokens),
                     map);
}

template <typename T>
cudaError_t map_pages(const device::PagedRows<const T>& from, int dim, int heads, int page_size,
                      int64_t pages, int box_slots, CUtensorMap* map) {
  return make_map<T>(device::TensorMapSpec::of(from.data)
                         .with(dim, 1, kPanel)
                         .with(page_size, usable_stride(page_size, from.slot_pitch), box_slots)
                         .with(heads, usable_stride(heads, from.head_pitch))
                         .with(pages, usable_stride(pages, from.page_pitch)),
                     map);
}

// Rows of a box of keys: those of a stage, or as many of a page as divide both.
template <typename Tile, typename T>
int box_rows(const RaggedKeys<T>&) {
  return Tile::kKeys;
}
template <typename Tile, typename T>
int box_rows(const RunKeys<T>&) {
  return Tile::kKeys;
}
template <typename Tile, typename T>
int box_rows(const PagedKeys<T>& keys) {
  return std::gcd(Tile::kKeys, keys.page_size.divisor());
}

template <typename Tile, typename T>
cudaError_t map_keys(const RaggedKeys<T>& keys, int heads, const Extents& extents, CUtensorMap* k,
                     CUtensorMap* v) {
  const cudaError_t status = map_heads(keys.k, Tile::kDim, heads, extents.keys, 1, Tile::kKeys, k);
  if (status != cudaSuccess) return status;
  return map_heads(keys.v, Tile::kValueDim, heads, extents.keys, 1, Tile::kKeys, v);
}
template <typename Tile, typename T>
cudaError_t map_keys(const RunKeys<T>& keys, int heads, const Extents& extents, CUtensorMap* k,
                     CUtensorMap* v) {
  return map_keys<Tile>(RaggedKeys<T>{keys.k, keys.v}, heads, extents, k, v);
}
template <typename Tile, typename T>
cudaError_t map_keys(const PagedKeys<T>& keys, int heads, const Extents& extents, CUtensorMap* k,
                     CUtensorMap* v) {
  const int page = keys.page_size.divisor();
  const int rows = box_rows<Tile>(keys);
  if (rows % 8 != 0) return cudaErrorInvalidValue;  // a box begins where the swizzle does
  const cudaError_t status = map_pages(keys.k, Tile::kDim, heads, page, extents.keys, rows, k);
  if (status != cudaSuccess) return status;
  return map_pages(keys.v, Tile::kValueDim, heads, page, extents.keys, rows, v);
}

}  // namespace fictl::attention::sm90
