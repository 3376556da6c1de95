// Warp operations: shuffles, votes, reductions, matches. Each lane puts its argument on its own
// stack; the last lane to arrive computes the results of all.
#pragma once

#include <fictl_emu/abi.h>
#include <fictl_emu/bits.h>

namespace fictl_emu {

// ---- shuffles ----

struct Shuffle {
  uint64_t value;
  uint64_t result;
  uint32_t from;
  uint32_t present;
};

// The value of an absent lane: NaN in every floating-point type.
constexpr uint64_t kNobody = ~uint64_t{0};

FICTL_EMU_UNCHECKED inline void shuffle_step(void* const* arguments, uint32_t lanes) {
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    auto& self = *static_cast<Shuffle*>(arguments[__builtin_ctz(left)]);
    const auto* from = static_cast<const Shuffle*>(arguments[self.from]);
    self.result = from == nullptr ? kNobody : from->value;
    self.present = lanes;
  }
}

// T has at most eight bytes. `from` is a lane of the warp.
template <class T>
inline T shuffle(const char* name, uint32_t mask, T value, uint32_t from, int direction,
                 const char* file, int line) {
  Shuffle argument{0, 0, from, 0};
  __builtin_memcpy(&argument.value, static_cast<const void*>(&value), sizeof value);
  fictl_emu_warp(name, mask, &argument, shuffle_step, FICTL_EMU_NEEDS_ALL, file, line);
  if ((argument.present >> from & 1) == 0) {
    fictl_emu_shuffled_from_nobody(name, mask, argument.present, from, direction, file, line);
  }
  __builtin_memcpy(static_cast<void*>(&value), &argument.result, sizeof value);
  return value;
}

// The lanes that one shuffle moves values between.
struct Segment {
  uint32_t lane, first, last;

  Segment(const char* name, int width, const char* file, int line)
      : lane(fictl_emu_registers.lane),
        first(lane & ~static_cast<uint32_t>(width - 1)),
        last(first + static_cast<uint32_t>(width) - 1) {
    if (width < 1 || width > 32 || (width & (width - 1)) != 0) stop(name, width, file, line);
  }

  // A place outside of it means the lane itself.
  uint32_t index(int source) const {
    return first + (static_cast<uint32_t>(source) & (last - first));
  }
  uint32_t up(uint32_t delta) const {
    return lane - first >= (delta & 31) ? lane - (delta & 31) : lane;
  }
  uint32_t down(uint32_t delta) const {
    return lane + (delta & 31) <= last ? lane + (delta & 31) : lane;
  }
  uint32_t exclusive_or(uint32_t bits) const {
    return (lane ^ (bits & 31)) <= last ? lane ^ (bits & 31) : lane;
  }

 private:
  [[noreturn]] static void stop(const char* name, int width, const char* file, int line) {
    char what[96];
    __builtin_snprintf(what, sizeof what, "%s() with a width of %d: not a power of two up to 32",
                       name, width);
    fictl_emu_stop("bad-argument", what, file, line);
  }
};

// ---- votes ----

struct Vote {
  uint32_t yes;
  uint32_t voters;
};

FICTL_EMU_UNCHECKED inline void vote_step(void* const* arguments, uint32_t lanes) {
  uint32_t yes = 0;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    if (static_cast<const Vote*>(arguments[lane])->yes != 0) yes |= uint32_t{1} << lane;
  }
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    *static_cast<Vote*>(arguments[__builtin_ctz(left)]) = {yes, lanes};
  }
}

inline Vote vote(const char* name, uint32_t mask, int predicate, const char* file, int line) {
  Vote argument{predicate != 0, 0};
  fictl_emu_warp(name, mask, &argument, vote_step, 0, file, line);
  return argument;
}

// ---- reductions ----

template <class T, class Operation>
FICTL_EMU_UNCHECKED inline void reduce_step(void* const* arguments, uint32_t lanes) {
  T result = *static_cast<const T*>(arguments[__builtin_ctz(lanes)]);
  for (uint32_t left = lanes & (lanes - 1); left != 0; left &= left - 1) {
    result = Operation::apply(result, *static_cast<const T*>(arguments[__builtin_ctz(left)]));
  }
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    *static_cast<T*>(arguments[__builtin_ctz(left)]) = result;
  }
}

template <class Operation, class T>
inline T reduce(const char* name, uint32_t mask, T value, const char* file, int line) {
  fictl_emu_warp(name, mask, &value, reduce_step<T, Operation>, FICTL_EMU_NEEDS_ALL, file, line);
  return value;
}

#define FICTL_EMU_OPERATION(Name, expression)      \
  struct Name {                                    \
    template <class T>                             \
    FICTL_EMU_UNCHECKED static T apply(T a, T b) { \
      return expression;                           \
    }                                              \
  };
FICTL_EMU_OPERATION(Add, a + b)
FICTL_EMU_OPERATION(Min, a < b ? a : b)
FICTL_EMU_OPERATION(Max, a > b ? a : b)
FICTL_EMU_OPERATION(And, a& b)
FICTL_EMU_OPERATION(Or, a | b)
FICTL_EMU_OPERATION(Xor, a ^ b)
#undef FICTL_EMU_OPERATION

// ---- matches ----

struct Match {
  uint64_t value;
  uint32_t same;
  bool all;
};

FICTL_EMU_UNCHECKED inline void match_step(void* const* arguments, uint32_t lanes) {
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    auto& self = *static_cast<Match*>(arguments[__builtin_ctz(left)]);
    self.same = 0;
    for (uint32_t others = lanes; others != 0; others &= others - 1) {
      const int other = __builtin_ctz(others);
      const bool same = static_cast<const Match*>(arguments[other])->value == self.value;
      self.same |= static_cast<uint32_t>(same) << other;
    }
    self.all = self.same == lanes;
  }
}

template <class T>
inline Match match(const char* name, uint32_t mask, T value, const char* file, int line) {
  Match argument{};
  __builtin_memcpy(&argument.value, &value, sizeof value);
  fictl_emu_warp(name, mask, &argument, match_step, FICTL_EMU_NEEDS_ALL, file, line);
  return argument;
}

}  // namespace fictl_emu

#define FICTL_EMU_SHUFFLES(T)                                                                   \
  inline T __shfl_sync(unsigned mask, T value, int source, int width = 32, FICTL_EMU_HERE) {    \
    const ::fictl_emu::Segment segment("__shfl_sync", width, file, line);                       \
    return ::fictl_emu::shuffle("__shfl_sync", mask, value, segment.index(source),              \
                                FICTL_EMU_ANYWHERE, file, line);                                \
  }                                                                                             \
  inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,               \
                          FICTL_EMU_HERE) {                                                     \
    const ::fictl_emu::Segment segment("__shfl_up_sync", width, file, line);                    \
    return ::fictl_emu::shuffle("__shfl_up_sync", mask, value, segment.up(delta), FICTL_EMU_UP, \
                                file, line);                                                    \
  }                                                                                             \
  inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,             \
                            FICTL_EMU_HERE) {                                                   \
    const ::fictl_emu::Segment segment("__shfl_down_sync", width, file, line);                  \
    return ::fictl_emu::shuffle("__shfl_down_sync", mask, value, segment.down(delta),           \
                                FICTL_EMU_DOWN, file, line);                                    \
  }                                                                                             \
  inline T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32, FICTL_EMU_HERE) {  \
    const ::fictl_emu::Segment segment("__shfl_xor_sync", width, file, line);                   \
    return ::fictl_emu::shuffle("__shfl_xor_sync", mask, value,                                 \
                                segment.exclusive_or(static_cast<uint32_t>(bits)),              \
                                FICTL_EMU_ANYWHERE, file, line);                                \
  }
FICTL_EMU_SHUFFLES(int)
FICTL_EMU_SHUFFLES(unsigned)
FICTL_EMU_SHUFFLES(long)
FICTL_EMU_SHUFFLES(unsigned long)
FICTL_EMU_SHUFFLES(long long)
FICTL_EMU_SHUFFLES(unsigned long long)
FICTL_EMU_SHUFFLES(float)
FICTL_EMU_SHUFFLES(double)
// half.h has those of the 16-bit types.

inline unsigned __activemask(FICTL_EMU_HERE) { return fictl_emu_activemask(file, line); }

inline void __syncwarp(unsigned mask = 0xffffffffu, FICTL_EMU_HERE) {
  fictl_emu_warp("__syncwarp", mask, nullptr, nullptr, FICTL_EMU_ORDERS_MEMORY, file, line);
}

inline unsigned __ballot_sync(unsigned mask, int predicate, FICTL_EMU_HERE) {
  return ::fictl_emu::vote("__ballot_sync", mask, predicate, file, line).yes;
}
inline int __any_sync(unsigned mask, int predicate, FICTL_EMU_HERE) {
  return ::fictl_emu::vote("__any_sync", mask, predicate, file, line).yes != 0;
}
inline int __all_sync(unsigned mask, int predicate, FICTL_EMU_HERE) {
  const auto vote = ::fictl_emu::vote("__all_sync", mask, predicate, file, line);
  return vote.yes == vote.voters;
}
inline int __uni_sync(unsigned mask, int predicate, FICTL_EMU_HERE) {
  const auto vote = ::fictl_emu::vote("__uni_sync", mask, predicate, file, line);
  return vote.yes == vote.voters || vote.yes == 0;
}

#define FICTL_EMU_REDUCTION(name, Operation, T)                                         \
  inline T name(unsigned mask, T value, FICTL_EMU_HERE) {                               \
    return ::fictl_emu::reduce<::fictl_emu::Operation>(#name, mask, value, file, line); \
  }
FICTL_EMU_REDUCTION(__reduce_add_sync, Add, unsigned)
FICTL_EMU_REDUCTION(__reduce_add_sync, Add, int)
FICTL_EMU_REDUCTION(__reduce_min_sync, Min, unsigned)
FICTL_EMU_REDUCTION(__reduce_min_sync, Min, int)
FICTL_EMU_REDUCTION(__reduce_max_sync, Max, unsigned)
FICTL_EMU_REDUCTION(__reduce_max_sync, Max, int)
FICTL_EMU_REDUCTION(__reduce_and_sync, And, unsigned)
FICTL_EMU_REDUCTION(__reduce_or_sync, Or, unsigned)
FICTL_EMU_REDUCTION(__reduce_xor_sync, Xor, unsigned)
#undef FICTL_EMU_REDUCTION

#define FICTL_EMU_MATCHES(T)                                                            \
  inline unsigned __match_any_sync(unsigned mask, T value, FICTL_EMU_HERE) {            \
    return ::fictl_emu::match("__match_any_sync", mask, value, file, line).same;        \
  }                                                                                     \
  inline unsigned __match_all_sync(unsigned mask, T value, int* all, FICTL_EMU_HERE) {  \
    const auto match = ::fictl_emu::match("__match_all_sync", mask, value, file, line); \
    *all = match.all;                                                                   \
    return match.all ? match.same : 0;                                                  \
  }
FICTL_EMU_MATCHES(int)
FICTL_EMU_MATCHES(unsigned)
FICTL_EMU_MATCHES(long)
FICTL_EMU_MATCHES(unsigned long)
FICTL_EMU_MATCHES(long long)
FICTL_EMU_MATCHES(unsigned long long)
FICTL_EMU_MATCHES(float)
FICTL_EMU_MATCHES(double)
#undef FICTL_EMU_MATCHES
