// Collective operations of a group of lanes of one warp, however they were picked. A thread's rank
// is the number of the group's lanes below it.
#pragma once

#include <fictl_emu/bits.h>
#include <fictl_emu/warp.h>

#include <type_traits>
#include <utility>

namespace cooperative_groups::details {

template <class T>
using Plain = std::remove_cv_t<std::remove_reference_t<T>>;

inline uint32_t lane() { return fictl_emu_registers.lane; }

// A value of any size, as words.
template <class T>
T shuffle(const char* name, uint32_t mask, const T& value, uint32_t from, const char* file,
          int line) {
  static_assert(std::is_trivially_copyable<T>::value || sizeof(T) <= 8,
                "what a group shuffles must be trivially copyable");
  T result = value;
  for (size_t at = 0; at < sizeof(T); at += sizeof(uint64_t)) {
    const size_t bytes = sizeof(T) - at < sizeof(uint64_t) ? sizeof(T) - at : sizeof(uint64_t);
    uint64_t word = 0;
    __builtin_memcpy(&word, reinterpret_cast<const char*>(&value) + at, bytes);
    word = fictl_emu::shuffle(name, mask, word, from, FICTL_EMU_ANYWHERE, file, line);
    __builtin_memcpy(reinterpret_cast<char*>(&result) + at, &word, bytes);
  }
  return result;
}

class LaneGroup {
 public:
  explicit LaneGroup(uint32_t mask) : mask_(mask) {}

  unsigned num_threads() const { return __popc(mask_); }
  unsigned size() const { return num_threads(); }
  unsigned thread_rank() const { return __popc(mask_ & ((1u << lane()) - 1)); }

  void sync(FICTL_EMU_HERE) const { __syncwarp(mask_, file, line); }

  template <class T>
  Plain<T> shfl(T&& value, int rank, FICTL_EMU_HERE) const {
    return shuffle<Plain<T>>("group.shfl", mask_, value, lane_of(rank % size()), file, line);
  }
  template <class T>
  Plain<T> shfl_up(T&& value, unsigned delta, FICTL_EMU_HERE) const {
    const unsigned rank = thread_rank();
    return shuffle<Plain<T>>("group.shfl_up", mask_, value,
                             rank >= delta ? lane_of(rank - delta) : lane(), file, line);
  }
  template <class T>
  Plain<T> shfl_down(T&& value, unsigned delta, FICTL_EMU_HERE) const {
    const unsigned rank = thread_rank();
    return shuffle<Plain<T>>("group.shfl_down", mask_, value,
                             delta < size() - rank ? lane_of(rank + delta) : lane(), file, line);
  }

  int any(int predicate, FICTL_EMU_HERE) const {
    return __ballot_sync(mask_, predicate, file, line) != 0;
  }
  int all(int predicate, FICTL_EMU_HERE) const {
    return __ballot_sync(mask_, predicate, file, line) == mask_;
  }
  unsigned ballot(int predicate, FICTL_EMU_HERE) const {
    return ranks_of(__ballot_sync(mask_, predicate, file, line));
  }
  template <class T>
  unsigned match_any(T value, FICTL_EMU_HERE) const {
    return ranks_of(__match_any_sync(mask_, value, file, line));
  }
  template <class T>
  unsigned match_all(T value, int& all, FICTL_EMU_HERE) const {
    return ranks_of(__match_all_sync(mask_, value, &all, file, line));
  }

  uint32_t mask() const { return mask_; }

 protected:
  uint32_t lane_of(unsigned rank) const { return __fns(mask_, 0, static_cast<int>(rank) + 1); }

 private:
  // The bits of lanes, as bits of ranks.
  unsigned ranks_of(uint32_t lanes) const {
    unsigned ranks = 0;
    int rank = 0;
    for (uint32_t left = mask_; left != 0; left &= left - 1, ++rank) {
      ranks |= (lanes >> __builtin_ctz(left) & 1u) << rank;
    }
    return ranks;
  }

  uint32_t mask_;
};

// A result that the lanes of a group compute from one value each; one lane computes it for all.
template <class T, class Operation>
struct Together {
  T value;
  Operation* operation;
};

template <class T, class Operation>
struct Members {
  // In the order of their ranks.
  Members(void* const* arguments, uint32_t lanes) {
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
      at[count++] = static_cast<Together<T, Operation>*>(arguments[__builtin_ctz(left)]);
    }
  }
  T& value(int rank) const { return at[rank]->value; }
  T apply(int rank, const T& a, const T& b) const { return (*at[rank]->operation)(a, b); }

  Together<T, Operation>* at[32];
  int count = 0;
};

template <class T, class Operation>
T together(const char* name, uint32_t mask, const T& value, Operation& operation, FictlEmuStep step,
           const char* file, int line) {
  Together<T, Operation> argument{value, &operation};
  fictl_emu_warp(name, mask, &argument, step, FICTL_EMU_NEEDS_ALL, file, line);
  return argument.value;
}

}  // namespace cooperative_groups::details
