// Groups out of groups: by size, by a predicate, by a label.
#pragma once

namespace cooperative_groups {

template <unsigned Size, class Parent>
thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  return {};
}
template <unsigned Size, unsigned ParentSize, class Grandparent>
thread_block_tile<Size, thread_block_tile<ParentSize, Grandparent>> tiled_partition(
    const thread_block_tile<ParentSize, Grandparent>&) {
  static_assert(Size < ParentSize, "a tile of a tile is smaller");
  return {};
}

namespace details {

inline void require_tile_size(unsigned size, const char* file, int line) {
  if (size >= 1 && size <= 32 && (size & (size - 1)) == 0) return;
  char what[96];
  __builtin_snprintf(what, sizeof what, "a partition into tiles of %u: not a power of two up to 32",
                     size);
  fictl_emu_stop("bad-argument", what, file, line);
}

// The lanes of `mask` from the rank-th on, as many as `count`.
inline uint32_t some_lanes(uint32_t mask, unsigned rank, unsigned count) {
  uint32_t some = 0;
  for (uint32_t left = mask; left != 0 && count != 0; left &= left - 1) {
    if (rank != 0) {
      --rank;
    } else {
      some |= left & -left;
      --count;
    }
  }
  return some;
}

// The lanes of the calling thread's warp.
inline uint32_t lanes_of_warp() {
  const unsigned first = rank_in_block() & ~31u;
  const unsigned count = block_size() - first < 32 ? block_size() - first : 32;
  return 0xffffffffu >> (32 - count);
}

}  // namespace details

inline coalesced_group tiled_partition(const coalesced_group& parent, unsigned size,
                                       FICTL_EMU_HERE) {
  details::require_tile_size(size, file, line);
  const unsigned tile = parent.thread_rank() / size;
  return coalesced_group(details::some_lanes(parent.mask(), tile * size, size), tile,
                         (parent.size() + size - 1) / size);
}

inline coalesced_group tiled_partition(const thread_block&, unsigned size, FICTL_EMU_HERE) {
  details::require_tile_size(size, file, line);
  const uint32_t lanes =
      details::some_lanes(details::lanes_of_warp(), details::lane() & ~(size - 1), size);
  return coalesced_group(lanes, thread_block::thread_rank() / size,
                         (thread_block::size() + size - 1) / size);
}

inline thread_group tiled_partition(const thread_group& parent, unsigned size, FICTL_EMU_HERE) {
  if (parent.get_type() == details::coalesced_group_id) {
    return tiled_partition(coalesced_group(parent.mask()), size, file, line);
  }
  return tiled_partition(thread_block(), size, file, line);
}

namespace details {

inline coalesced_group partition_by(const LaneGroup& parent, bool predicate, const char* file,
                                    int line) {
  const uint32_t yes = __ballot_sync(parent.mask(), predicate, file, line);
  if (yes == parent.mask() || yes == 0) return coalesced_group(parent.mask());
  return coalesced_group(predicate ? yes : parent.mask() & ~yes, predicate, 2);
}

template <class Label>
coalesced_group partition_by(const LaneGroup& parent, Label label, const char* file, int line) {
  const uint32_t same = __match_any_sync(parent.mask(), label, file, line);
  const int leader = __ffs(static_cast<int>(same)) - 1;
  const uint32_t leaders =
      __ballot_sync(parent.mask(), leader == static_cast<int>(lane()), file, line);
  return coalesced_group(same, __popc(leaders & ((1u << leader) - 1)), __popc(leaders));
}

template <class Label>
coalesced_group partition_by(const LaneGroup& parent, Label* label, const char* file, int line) {
  return partition_by(parent, reinterpret_cast<unsigned long long>(label), file, line);
}

}  // namespace details

inline coalesced_group binary_partition(const details::LaneGroup& parent, bool predicate,
                                        FICTL_EMU_HERE) {
  return details::partition_by(parent, predicate, file, line);
}

template <class Label>
coalesced_group labeled_partition(const details::LaneGroup& parent, Label label, FICTL_EMU_HERE) {
  static_assert(std::is_integral<Label>::value || std::is_pointer<Label>::value,
                "a label is an integer or a pointer");
  return details::partition_by(parent, label, file, line);
}

}  // namespace cooperative_groups
