// PTX instructions of the lanes of a warp, and of the warps of a block, together.
#pragma once

#include <fictl_emu/ptx/registers.h>

namespace fictl_emu::ptx {

// The lanes in `mask` come with a Lane each; Lane::meet runs over them all.
template <class Lane>
inline void together(const char* name, uint32_t mask, Lane& self, int meeting, const char* file,
                     int line) {
  fictl_emu_warp(name, mask, &self, Lane::meet, meeting, file, line);
}

struct Shuffle {
  uint32_t value;
  uint32_t from;
  uint32_t present;

  FICTL_EMU_UNCHECKED static void meet(void* const* lanes, uint32_t present) {
    uint32_t given[32];
    for (int i = 0; i < 32; ++i) {
      // NaN from lanes that are not there: what they would give is undefined.
      given[i] = present >> i & 1 ? static_cast<Shuffle*>(lanes[i])->value : 0xffffffffu;
    }
    for (int i = 0; i < 32; ++i) {
      if (present >> i & 1) {
        auto& lane = *static_cast<Shuffle*>(lanes[i]);
        lane.value = given[lane.from];
        lane.present = present;
      }
    }
  }
};

enum class Shuffling { kUp, kDown, kXor, kIndex };

// `bounds`: the last lane that may be read, and from bit 8 on a mask of the bits of the lane that
// do not change. `valid` says whether a lane in bounds was read; else it is the thread's own.
template <Shuffling how>
inline uint32_t shuffle(uint32_t value, uint32_t by, uint32_t bounds, uint32_t mask, bool& valid,
                        FICTL_EMU_HERE) {
  const int self = static_cast<int>(lane());
  const int fixed = bounds >> 8 & 31, clamp = bounds & 31, step = by & 31;
  const int last = (self & fixed) | (clamp & ~fixed);
  int from = 0;
  if (how == Shuffling::kUp) from = self - step;
  if (how == Shuffling::kDown) from = self + step;
  if (how == Shuffling::kXor) from = self ^ step;
  if (how == Shuffling::kIndex) from = (self & fixed) | (step & ~fixed);
  valid = how == Shuffling::kUp ? from >= last : from <= last;
  // Lanes of one shuffle come with the same mode.
  static const char* const kNames[] = {"shfl.sync.up", "shfl.sync.down", "shfl.sync.bfly",
                                       "shfl.sync.idx"};
  constexpr int kDirection = how == Shuffling::kUp     ? FICTL_EMU_UP
                             : how == Shuffling::kDown ? FICTL_EMU_DOWN
                                                       : FICTL_EMU_ANYWHERE;
  const char* name = kNames[static_cast<int>(how)];
  Shuffle exchange{value, static_cast<uint32_t>(valid ? from : self), 0};
  together(name, mask, exchange, FICTL_EMU_NEEDS_ALL, file, line);
  if ((exchange.present >> exchange.from & 1) == 0) {
    fictl_emu_shuffled_from_nobody(name, mask, exchange.present, exchange.from, kDirection, file,
                                   line);
  }
  return exchange.value;
}

struct Ballot {
  uint32_t votes;  // the thread's own, then those of all
  uint32_t present;

  FICTL_EMU_UNCHECKED static void meet(void* const* lanes, uint32_t present) {
    uint32_t votes = 0;
    for (int i = 0; i < 32; ++i) {
      if (present >> i & 1 && static_cast<Ballot*>(lanes[i])->votes) votes |= uint32_t{1} << i;
    }
    for (int i = 0; i < 32; ++i) {
      if (present >> i & 1) *static_cast<Ballot*>(lanes[i]) = {votes, present};
    }
  }
};

inline Ballot count(bool vote, uint32_t mask, const char* file, int line) {
  Ballot ballot{vote, 0};
  together("vote.sync", mask, ballot, 0, file, line);
  return ballot;
}
inline uint32_t ballot(bool vote, uint32_t mask, FICTL_EMU_HERE) {
  return count(vote, mask, file, line).votes;
}
inline bool vote_any(bool vote, uint32_t mask, FICTL_EMU_HERE) {
  return count(vote, mask, file, line).votes != 0;
}
inline bool vote_all(bool vote, uint32_t mask, FICTL_EMU_HERE) {
  return count(!vote, mask, file, line).votes == 0;
}
inline bool vote_uni(bool vote, uint32_t mask, FICTL_EMU_HERE) {
  const Ballot ballot = count(vote, mask, file, line);
  return ballot.votes == 0 || ballot.votes == ballot.present;
}

struct Match {
  uint64_t value;
  uint32_t same;
  bool all;

  FICTL_EMU_UNCHECKED static void meet(void* const* lanes, uint32_t present) {
    for (int i = 0; i < 32; ++i) {
      if ((present >> i & 1) == 0) continue;
      auto& lane = *static_cast<Match*>(lanes[i]);
      for (int j = 0; j < 32; ++j) {
        if (present >> j & 1 && static_cast<Match*>(lanes[j])->value == lane.value) {
          lane.same |= uint32_t{1} << j;
        }
      }
      lane.all = lane.same == present;
    }
  }
};

inline uint32_t match_any(uint64_t value, uint32_t mask, FICTL_EMU_HERE) {
  Match match{value, 0, false};
  together("match.any.sync", mask, match, FICTL_EMU_NEEDS_ALL, file, line);
  return match.same;
}
inline uint32_t match_all(uint64_t value, uint32_t mask, bool& all, FICTL_EMU_HERE) {
  Match match{value, 0, false};
  together("match.all.sync", mask, match, FICTL_EMU_NEEDS_ALL, file, line);
  all = match.all;
  return all ? mask : 0;
}

template <class T>
struct Reduction {
  T value;
  T (*combine)(T, T);

  FICTL_EMU_UNCHECKED static void meet(void* const* lanes, uint32_t present) {
    T result{};
    for (uint32_t left = present; left != 0; left &= left - 1) {
      const auto& lane = *static_cast<Reduction*>(lanes[__builtin_ctz(left)]);
      result = left == present ? lane.value : lane.combine(result, lane.value);
    }
    for (uint32_t left = present; left != 0; left &= left - 1) {
      static_cast<Reduction*>(lanes[__builtin_ctz(left)])->value = result;
    }
  }
};

template <class T>
inline T reduce(T value, uint32_t mask, T (*combine)(T, T), FICTL_EMU_HERE) {
  Reduction<T> reduction{value, combine};
  together("redux.sync", mask, reduction, FICTL_EMU_NEEDS_ALL, file, line);
  return reduction.value;
}

// The lowest lane of the mask is it.
inline uint32_t elect(uint32_t mask, bool& elected, FICTL_EMU_HERE) {
  ballot(true, mask, file, line);
  const auto leader = static_cast<uint32_t>(__builtin_ctz(mask | uint32_t{1} << 31));
  elected = leader == lane();
  return leader;
}

inline void warp_barrier(uint32_t mask, FICTL_EMU_HERE) {
  static char nothing;
  fictl_emu_warp("bar.warp.sync", mask, &nothing, nullptr, FICTL_EMU_ORDERS_MEMORY, file, line);
}

inline void barrier(uint32_t id, uint32_t threads = 0, FICTL_EMU_HERE) {
  fictl_emu_barrier(static_cast<int>(id), static_cast<int>(threads), file, line);
}
inline void barrier_arrive(uint32_t id, uint32_t threads, FICTL_EMU_HERE) {
  fictl_emu_barrier_arrive(static_cast<int>(id), static_cast<int>(threads), file, line);
}
inline void bar(uint32_t id, uint32_t threads = 0, FICTL_EMU_HERE) {
  fictl_emu_bar_sync(static_cast<int>(id), static_cast<int>(threads), file, line);
}
inline void bar_arrive(uint32_t id, uint32_t threads, FICTL_EMU_HERE) {
  fictl_emu_bar_arrive(static_cast<int>(id), static_cast<int>(threads), file, line);
}
inline int barrier_vote(FictlEmuVote how, uint32_t id, bool vote, FICTL_EMU_HERE) {
  if (id != 0) fictl_emu_missing("PTX instruction bar.red of a barrier but the first", file, line);
  return fictl_emu_barrier_vote(vote, how, file, line);
}

}  // namespace fictl_emu::ptx
