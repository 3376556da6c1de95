// Cooperative groups, in place of the toolkit's header, which only nvcc can compile: the same
// groups with the same members, on the runtime's barriers and warp operations.
#pragma once

#include <cooperative_groups/details/lanes.h>
#include <fictl_emu/abi.h>
#include <fictl_emu/sync.h>

namespace cooperative_groups {

namespace details {

inline unsigned block_size() { return blockDim.x * blockDim.y * blockDim.z; }
inline unsigned rank_in_block() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
inline unsigned long long grid_blocks() {
  return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
}
inline unsigned long long rank_in_grid() {
  return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x +
         blockIdx.x;
}

enum Kind : unsigned {
  coalesced_group_id = 1,
  grid_group_id = 3,
  thread_block_id = 4,
  multi_tile_group_id = 5,
  cluster_group_id = 6,
};

}  // namespace details

// Any group, known by its kind and, if it is in one warp, by its lanes.
class thread_group {
 public:
  thread_group(details::Kind kind, uint32_t mask) : kind_(kind), mask_(mask) {}

  unsigned long long num_threads() const {
    if (kind_ == details::coalesced_group_id) return details::LaneGroup(mask_).num_threads();
    const unsigned long long block = details::block_size();
    return kind_ == details::grid_group_id ? details::grid_blocks() * block : block;
  }
  unsigned long long size() const { return num_threads(); }
  unsigned long long thread_rank() const {
    if (kind_ == details::coalesced_group_id) return details::LaneGroup(mask_).thread_rank();
    const unsigned long long before =
        kind_ == details::grid_group_id ? details::rank_in_grid() * details::block_size() : 0;
    return before + details::rank_in_block();
  }
  void sync(FICTL_EMU_HERE) const {
    if (kind_ == details::coalesced_group_id) {
      details::LaneGroup(mask_).sync(file, line);
    } else if (kind_ == details::grid_group_id) {
      fictl_emu_grid_sync(file, line);
    } else {
      fictl_emu_barrier(0, 0, file, line);
    }
  }
  unsigned get_type() const { return kind_; }
  uint32_t mask() const { return mask_; }

 private:
  details::Kind kind_;
  uint32_t mask_;
};

// ---- the block ----

template <unsigned Threads = 1024>
struct block_tile_memory {};

class thread_block : public thread_group {
 public:
  struct arrival_token {};

  thread_block() : thread_group(details::thread_block_id, 0) {}

  static void sync(FICTL_EMU_HERE) { fictl_emu_barrier(0, 0, file, line); }
  arrival_token barrier_arrive() const { return {}; }
  void barrier_wait(arrival_token&&, FICTL_EMU_HERE) const { sync(file, line); }

  static unsigned num_threads() { return details::block_size(); }
  static unsigned size() { return num_threads(); }
  static unsigned thread_rank() { return details::rank_in_block(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 dim_threads() { return blockDim; }
  static dim3 group_dim() { return dim_threads(); }
};

inline thread_block this_thread_block() { return {}; }
template <unsigned Threads>
thread_block this_thread_block(block_tile_memory<Threads>&) {
  return {};
}

// ---- the grid ----

class grid_group : public thread_group {
 public:
  using arrival_token = unsigned;

  grid_group() : thread_group(details::grid_group_id, 0) {}

  bool is_valid() const { return true; }
  void sync(FICTL_EMU_HERE) const { fictl_emu_grid_sync(file, line); }
  arrival_token barrier_arrive() const { return 0; }
  void barrier_wait(arrival_token&&, FICTL_EMU_HERE) const { sync(file, line); }

  static unsigned long long num_blocks() { return details::grid_blocks(); }
  static unsigned long long num_threads() { return num_blocks() * details::block_size(); }
  static unsigned long long size() { return num_threads(); }
  static unsigned long long block_rank() { return details::rank_in_grid(); }
  static unsigned long long thread_rank() {
    return block_rank() * details::block_size() + details::rank_in_block();
  }
  static dim3 dim_blocks() { return gridDim; }
  static dim3 group_dim() { return gridDim; }
  static dim3 block_index() { return blockIdx; }
  static dim3 thread_index() {
    return dim3(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
                blockIdx.z * blockDim.z + threadIdx.z);
  }
  static dim3 dim_threads() {
    return dim3(gridDim.x * blockDim.x, gridDim.y * blockDim.y, gridDim.z * blockDim.z);
  }
};

inline grid_group this_grid() { return {}; }

// ---- lanes of one warp ----

class coalesced_group : public thread_group, public details::LaneGroup {
 public:
  explicit coalesced_group(uint32_t mask, unsigned meta_rank = 0, unsigned meta_size = 1)
      : thread_group(details::coalesced_group_id, mask),
        LaneGroup(mask),
        meta_rank_(meta_rank),
        meta_size_(meta_size) {}

  using LaneGroup::mask;
  using LaneGroup::num_threads;
  using LaneGroup::size;
  using LaneGroup::sync;
  using LaneGroup::thread_rank;
  unsigned meta_group_rank() const { return meta_rank_; }
  unsigned meta_group_size() const { return meta_size_; }

 private:
  unsigned meta_rank_, meta_size_;
};

inline coalesced_group coalesced_threads(FICTL_EMU_HERE) {
  return coalesced_group(__activemask(file, line));
}

// ---- tiles ----

namespace details {

template <unsigned Size>
class WarpTile : public LaneGroup {
 public:
  WarpTile() : LaneGroup((0xffffffffu >> (32 - Size)) << (lane() & ~(Size - 1))) {}

  static constexpr unsigned num_threads() { return Size; }
  static constexpr unsigned size() { return Size; }
  static unsigned thread_rank() { return lane() & (Size - 1); }

  // Why not the group's: here a rank beyond the last wraps, and there are no gaps to count over.
  template <class T>
  Plain<T> shfl(T&& value, int rank, FICTL_EMU_HERE) const {
    return from("group.shfl", value, static_cast<unsigned>(rank) & (Size - 1), file, line);
  }
  template <class T>
  Plain<T> shfl_up(T&& value, unsigned delta, FICTL_EMU_HERE) const {
    const unsigned rank = thread_rank();
    return from("group.shfl_up", value, rank >= delta ? rank - delta : rank, file, line);
  }
  template <class T>
  Plain<T> shfl_down(T&& value, unsigned delta, FICTL_EMU_HERE) const {
    const unsigned rank = thread_rank();
    return from("group.shfl_down", value, delta < Size - rank ? rank + delta : rank, file, line);
  }
  template <class T>
  Plain<T> shfl_xor(T&& value, unsigned bits, FICTL_EMU_HERE) const {
    const unsigned rank = thread_rank();
    return from("group.shfl_xor", value, (rank ^ bits) < Size ? rank ^ bits : rank, file, line);
  }

 private:
  template <class T>
  T from(const char* name, const T& value, unsigned rank, const char* file, int line) const {
    return shuffle<T>(name, mask(), value, (lane() & ~(Size - 1)) + rank, file, line);
  }
};

// A tile of several warps: collective operations across warps are not emulated.
template <unsigned Size>
class BlockTile {
 public:
  static constexpr unsigned num_threads() { return Size; }
  static constexpr unsigned size() { return Size; }
  static unsigned thread_rank() { return rank_in_block() & (Size - 1); }

  [[noreturn]] void sync(FICTL_EMU_HERE) const { missing("sync()", file, line); }
  [[noreturn]] int any(int, FICTL_EMU_HERE) const { missing("any()", file, line); }
  [[noreturn]] int all(int, FICTL_EMU_HERE) const { missing("all()", file, line); }
  template <class T>
  [[noreturn]] Plain<T> shfl(T&&, int, FICTL_EMU_HERE) const {
    missing("shfl()", file, line);
  }

  [[noreturn]] static void missing(const char* what, const char* file, int line) {
    char text[96];
    __builtin_snprintf(text, sizeof text, "%s of a tile of %u threads, more than a warp", what,
                       Size);
    fictl_emu_missing(text, file, line);
  }
};

template <unsigned Size>
using Tile = std::conditional_t<(Size <= 32), WarpTile<(Size <= 32 ? Size : 32)>, BlockTile<Size>>;

template <unsigned Size>
constexpr bool is_tile_size = Size >= 1 && Size <= 1024 && (Size & (Size - 1)) == 0;

}  // namespace details

template <unsigned Size, class Parent = void>
class thread_block_tile : public details::Tile<Size> {
  static_assert(details::is_tile_size<Size>, "the size of a tile is a power of two");

 public:
  static unsigned meta_group_rank() { return Parent::thread_rank() / Size; }
  static unsigned meta_group_size() { return (Parent::size() + Size - 1) / Size; }
};

// A tile whose parent is unknown at compile time.
template <unsigned Size>
class thread_block_tile<Size, void> : public details::Tile<Size> {
  static_assert(details::is_tile_size<Size>, "the size of a tile is a power of two");

 public:
  template <class Parent>
  thread_block_tile(const thread_block_tile<Size, Parent>& tile)
      : meta_rank_(tile.meta_group_rank()), meta_size_(tile.meta_group_size()) {}

  unsigned meta_group_rank() const { return meta_rank_; }
  unsigned meta_group_size() const { return meta_size_; }
  operator thread_group() const { return thread_group(details::coalesced_group_id, this->mask()); }

 private:
  unsigned meta_rank_, meta_size_;
};

inline thread_block_tile<1> this_thread() {
  return thread_block_tile<1, thread_block_tile<1, thread_block>>();
}

// ---- clusters ----

class cluster_group : public thread_group {
 public:
  struct arrival_token {};

  cluster_group() : thread_group(details::cluster_group_id, 0) {}

  static void sync(FICTL_EMU_HERE) {
    fictl_emu_cluster_arrive(1, file, line);
    fictl_emu_cluster_wait(file, line);
  }
  static arrival_token barrier_arrive(FICTL_EMU_HERE) {
    fictl_emu_cluster_arrive(1, file, line);
    return {};
  }
  static void barrier_wait(FICTL_EMU_HERE) { fictl_emu_cluster_wait(file, line); }
  static void barrier_wait(arrival_token&&, FICTL_EMU_HERE) { fictl_emu_cluster_wait(file, line); }

  static unsigned query_shared_rank(const void* pointer, FICTL_EMU_HERE) {
    return fictl_emu_shared_rank(pointer, file, line);
  }
  template <class T>
  static T* map_shared_rank(T* pointer, int rank, FICTL_EMU_HERE) {
    return static_cast<T*>(fictl_emu_map_shared(pointer, rank, file, line));
  }

  static dim3 block_index() { return fictl_emu_cluster().block; }
  static unsigned block_rank() { return fictl_emu_cluster().rank; }
  static dim3 thread_index() {
    const dim3 block = block_index();
    return dim3(block.x * blockDim.x + threadIdx.x, block.y * blockDim.y + threadIdx.y,
                block.z * blockDim.z + threadIdx.z);
  }
  static unsigned thread_rank() {
    return block_rank() * details::block_size() + details::rank_in_block();
  }
  static dim3 dim_blocks() { return fictl_emu_cluster().shape; }
  static unsigned num_blocks() { return fictl_emu_cluster().blocks; }
  static dim3 dim_threads() {
    const dim3 blocks = dim_blocks();
    return dim3(blocks.x * blockDim.x, blocks.y * blockDim.y, blocks.z * blockDim.z);
  }
  static unsigned num_threads() { return num_blocks() * details::block_size(); }
  static unsigned size() { return num_threads(); }
};

inline cluster_group this_cluster() { return {}; }

// ---- what takes any group ----

template <class Group>
void sync(const Group& group, FICTL_EMU_HERE) {
  group.sync(file, line);
}
template <class Group>
auto thread_rank(const Group& group) -> decltype(group.thread_rank()) {
  return group.thread_rank();
}
template <class Group>
auto group_size(const Group& group) -> decltype(group.num_threads()) {
  return group.num_threads();
}

}  // namespace cooperative_groups

#include <cooperative_groups/details/invoke.h>
#include <cooperative_groups/details/partitioning.h>
