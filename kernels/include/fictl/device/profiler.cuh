// Events inside a kernel: which part of it takes how long, in which block, warp and SM.
//
//   __global__ void Kernel(...) {
//     FICTL_KERNEL("gemm");          // at the top: what this warp records from here to its end
//     FICTL_EVENT("started");        // an instant
//     FICTL_BEGIN("load");
//     float x = *input;
//     FICTL_END("load", x);          // when x is there: a load is not over when it is issued
//     {
//       FICTL_SCOPE("mma");          // from here to where its block ends
//     }
//   }
//
// The first lane of every warp records, or of every group of 4 warps by FICTL_KERNEL("gemm", 4).
// In a lambda that captures by reference they work as in the kernel; a function of its own takes
// `fictl::device::Profiler& fictl_profiler`.
//
// Without -DFICTL_PROFILE all of it vanishes: the machine code is the same as without it. With it,
// as in the builds of `fictl profile OP --tool events`, an event reads the SM's clock and stores 16
// bytes. Where it stores was reserved for its warp before the launch, so that there are no atomics
// and nothing is waited for; what does not fit is counted, and never written.
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

#ifndef FICTL_PROFILE

namespace fictl::device {

struct Profiler {};

}  // namespace fictl::device

#define FICTL_KERNEL(...) [[maybe_unused]] ::fictl::device::Profiler fictl_profiler
#define FICTL_EVENT(...) static_cast<void>(0)
#define FICTL_SCOPE(...) static_cast<void>(0)
#define FICTL_BEGIN(...) static_cast<void>(0)
#define FICTL_END(...) static_cast<void>(0)

#else

#include <string.h>

namespace fictl::device {

namespace profiler {

// fictl/profile/events/layout.py has the same structures.

constexpr unsigned kPlaces = 16;
constexpr unsigned kMostRegions = 2 * kPlaces;

// 16 bytes at a time are one store.
struct alignas(16) Pair {
  uint64_t first;
  uint64_t second;
};

enum Kind : uint32_t { kInstant, kBegin, kEnd };

// The record of a warp, or of a group of warps. The last two pairs are written when it ends;
// without them, it has not ended.
struct Slot {
  Pair begin;   // the time in ns on the clock of all SMs, and on this SM's own in cycles
  Pair block;   // its number in the grid, and how many the grid has
  Pair place;   // kernel | SM << 32 | warps of a group << 48, group | groups of its block << 32
  Pair launch;  // its number among those of the driver, if it counts them; 0
  Pair end;     // as begin
  Pair count;   // events, the ones that found no room too; 1
};

// The slots of one kernel. Every `step`-th block from `first` on has a slot for each of its groups,
// as far as there are slots. Launches take turns at `layers` sets of them.
struct Region {
  uint32_t kernel;
  uint32_t first;
  // A number times the inverse of step's odd part, rotated by its factors of two, is the number
  // divided by step where that is at most `limit`, and else is not divisible. Why: to leave most
  // blocks alone is what costs all of them, and this is three instructions.
  uint32_t inverse;
  uint32_t rotation;
  uint32_t limit;
  uint32_t base;   // the number of its first slot
  uint32_t slots;  // of a layer
  uint32_t layers;
};

// Nothing is recorded where there are no regions. That of a kernel is at the place of its id modulo
// kPlaces, or, where another kernel's is there, one of `more` behind all places. In the memory
// stands the number of launches of each, in the room of a Pair; then come all slots, each followed
// by `capacity` events, which are Pairs of the SM's clock and event | kind << 32.
struct Session {
  uint64_t memory;
  uint32_t capacity;
  uint32_t more;
  Region regions[kMostRegions];
};

// Why in every translation unit: nothing links device code across them.
namespace {
__constant__ Session session;
}

// The translation units of a module, each with a session of its own.
struct Unit {
  cudaError_t (*attach)(const Session&);
  Unit* next;
};

// Why hidden: modules of one process would share it.
__attribute__((visibility("hidden"))) inline Unit* units = nullptr;

struct Registration : Unit {
  explicit Registration(cudaError_t (*attach)(const Session&)) : Unit{attach, units} {
    units = this;
  }
};

namespace {
Registration registration(+[](const Session& given) {
  return cudaMemcpyToSymbol(session, &given, sizeof(Session));
});
}  // namespace

// FNV-1a of a name.
__host__ __device__ constexpr uint32_t id(const char* name) {
  uint32_t hash = 2166136261u;
  for (; *name != '\0'; ++name) hash = (hash ^ static_cast<uint8_t>(*name)) * 16777619u;
  return hash;
}

struct Declared {
  uint32_t kernel;
  unsigned warps;  // of a group
};

__host__ __device__ constexpr Declared declared(const char* kernel, unsigned warps = 1) {
  return {id(kernel), warps};
}

// Why memory is clobbered: what stands before an event in the source is to be issued before it.
__device__ inline uint64_t clock() {
  uint64_t now;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(now) : : "memory");
  return now;
}

// The clock when `value` is there. Why the sleep, which is for one odd value: of all instructions
// it does least, and still stays in order, behind the comparison that waits for the value.
template <typename T>
__device__ uint64_t clock(T value) {
  static_assert(sizeof(T) <= sizeof(uint64_t), "an event waits for a number or a pointer");
  if constexpr (sizeof(T) <= sizeof(uint32_t)) {
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof(T));
    asm volatile(
        "{\n"
        ".reg .pred odd;\n"
        "setp.eq.u32 odd, %0, 0x7fedcba9;\n"
        "@odd nanosleep.u32 0;\n"
        "}"
        :
        : "r"(bits)
        : "memory");
  } else {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof(T));
    asm volatile(
        "{\n"
        ".reg .pred odd;\n"
        "setp.eq.u64 odd, %0, 0x7fedcba97fedcba9;\n"
        "@odd nanosleep.u32 0;\n"
        "}"
        :
        : "l"(bits)
        : "memory");
  }
  return clock();
}

__device__ inline Pair both_clocks() {
  uint64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time) : : "memory");
  return {time, clock()};
}

__device__ inline uint64_t launch() {
  uint64_t number;
  asm volatile("mov.u64 %0, %%gridid;" : "=l"(number));
  return number;
}

__device__ inline uint32_t sm() {
  uint32_t number;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
  return number;
}

// Why volatile: what is always at hand need not wait in a register for the next event.
__device__ inline uint32_t thread_in_block() {
  uint32_t x, y, z;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(x));
  asm volatile("mov.u32 %0, %%tid.y;" : "=r"(y));
  asm volatile("mov.u32 %0, %%tid.z;" : "=r"(z));
  return x + blockDim.x * (y + blockDim.y * z);
}

// Why past L1: nothing on the SM reads it again.
__device__ inline void store(Pair* to, uint64_t first, uint64_t second) {
  __stcg(reinterpret_cast<ulonglong2*>(to), make_ulonglong2(first, second));
}

__device__ constexpr uint64_t packed(uint32_t low, uint32_t high) {
  return low | static_cast<uint64_t>(high) << 32;
}

}  // namespace profiler

// The recorder of a block's threads. It records nothing in a block that is not selected.
//
// From event to event it remembers only one number, the same in all of the block, and a count,
// which the compiler knows where there are no loops. Why so little: another register for every
// thread may mean a block less on each SM, and the kernel measured would be another one.
class Profiler {
 public:
  __device__ explicit Profiler(profiler::Declared kernel) : threads_(kLanes * kernel.warps) {
    using profiler::session;
    const uint32_t block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned region = kernel.kernel % profiler::kPlaces;
    uint32_t index = index_of(block, session.regions[region]);
    const bool here = session.regions[region].kernel == kernel.kernel;
    // Why & and not &&: nothing waits for anything but the one branch.
    bool chosen = here & (index <= session.regions[region].limit);
    if (!here) {
      for (unsigned i = profiler::kPlaces; i < profiler::kPlaces + session.more; ++i) {
        if (session.regions[i].kernel != kernel.kernel) continue;
        region = i;
        index = index_of(block, session.regions[i]);
        chosen = index <= session.regions[i].limit;
      }
    }
    if (chosen) open(session.regions[region], region, index);
  }

  __device__ ~Profiler() {
    profiler::Slot* slot = own_slot();
    if (slot == nullptr) return;
    store(&slot->end, profiler::both_clocks());
    profiler::store(&slot->count, used_, 1);
  }

  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  // When the value is there, if one is given.
  template <typename... Value>
  __device__ __forceinline__ void record(uint32_t event, profiler::Kind kind, Value... value) {
    const uint32_t index = used_++;
    profiler::Slot* slot = own_slot();
    if (slot == nullptr || index >= profiler::session.capacity) return;
    profiler::store(reinterpret_cast<profiler::Pair*>(slot + 1) + index, profiler::clock(value...),
                    profiler::packed(event, kind));
  }

  class Scope {
   public:
    __device__ Scope(Profiler& profiler, uint32_t event) : profiler_(profiler), event_(event) {
      profiler_.record(event_, profiler::kBegin);
    }
    __device__ ~Scope() { profiler_.record(event_, profiler::kEnd); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Profiler& profiler_;
    uint32_t event_;
  };

 private:
  static constexpr unsigned kLanes = 32;

  // The slot of the thread that records for its group; null for all other threads.
  __device__ __forceinline__ profiler::Slot* own_slot() const {
    if (slots_ == 0) return nullptr;
    const uint32_t thread = profiler::thread_in_block();
    return thread % threads_ == 0 ? slot(slots_ - 1 + thread / threads_) : nullptr;
  }

  __device__ static profiler::Slot* slot(uint32_t number) {
    const uint32_t bytes =
        sizeof(profiler::Slot) + profiler::session.capacity * sizeof(profiler::Pair);
    constexpr unsigned kCounts = profiler::kMostRegions * sizeof(profiler::Pair);
    return reinterpret_cast<profiler::Slot*>(profiler::session.memory + kCounts +
                                             static_cast<uint64_t>(number) * bytes);
  }

  // The index of a block among those that record; beyond the region's limit for all others.
  __device__ static uint32_t index_of(uint32_t block, const profiler::Region& region) {
    const uint32_t product = (block - region.first) * region.inverse;
    return __funnelshift_r(product, product, region.rotation);
  }

  __device__ void open(const profiler::Region& region, unsigned number, uint32_t index) {
    const uint64_t block =
        blockIdx.x + static_cast<uint64_t>(gridDim.x) *
                         (blockIdx.y + static_cast<uint64_t>(gridDim.y) * blockIdx.z);
    const uint32_t groups = (blockDim.x * blockDim.y * blockDim.z + threads_ - 1) / threads_;
    // A block before the first one looks like one far behind it.
    if (block > UINT32_MAX || (uint64_t{index} + 1) * groups > region.slots) return;
    slots_ = 1 + region.base + index * groups;
    if (region.layers > 1) {
      slots_ += static_cast<uint32_t>(profiler::launch()) % region.layers * region.slots;
    }
    begin(region, number, block, index, groups);
  }

  __device__ void begin(const profiler::Region& region, unsigned number, uint64_t block,
                        uint32_t index, uint32_t groups) {
    profiler::Slot* slot = own_slot();
    if (slot == nullptr) return;
    const uint32_t group = profiler::thread_in_block() / threads_;
    if (index == 0 && group == 0) {
      atomicAdd(reinterpret_cast<unsigned long long*>(profiler::session.memory) + 2 * number, 1ull);
    }
    const uint64_t blocks = static_cast<uint64_t>(gridDim.x) * gridDim.y * gridDim.z;
    profiler::store(&slot->block, block, blocks);
    profiler::store(&slot->place,
                    profiler::packed(region.kernel, profiler::sm() | threads_ / kLanes << 16),
                    profiler::packed(group, groups));
    profiler::store(&slot->launch, profiler::launch(), 0);
    store(&slot->begin, profiler::both_clocks());
  }

  __device__ static void store(profiler::Pair* to, profiler::Pair pair) {
    profiler::store(to, pair.first, pair.second);
  }

  uint32_t threads_;    // of a group: a constant
  uint32_t slots_ = 0;  // 1 + the number of the block's first slot, or 0
  uint32_t used_ = 0;
};

}  // namespace fictl::device

// From now on the kernels of this module record into these regions, or nothing where there are
// none. Returns a cudaError_t. Why it waits before and after: a kernel that runs would see both.
extern "C" __attribute__((visibility("default"), used)) inline int fictl_profiler_attach(
    const fictl::device::profiler::Session* session) {
  cudaError_t status = cudaDeviceSynchronize();
  for (auto* unit = fictl::device::profiler::units; unit != nullptr; unit = unit->next) {
    if (status == cudaSuccess) status = unit->attach(*session);
  }
  return static_cast<int>(status == cudaSuccess ? cudaDeviceSynchronize() : status);
}

#define FICTL_JOINED_(a, b) a##b
#define FICTL_JOINED(a, b) FICTL_JOINED_(a, b)

#define FICTL_KERNEL(...)                                                           \
  constexpr auto fictl_declared = ::fictl::device::profiler::declared(__VA_ARGS__); \
  ::fictl::device::Profiler fictl_profiler(fictl_declared)

#define FICTL_RECORD(kind, name, ...)                                                   \
  do {                                                                                  \
    constexpr uint32_t fictl_event = ::fictl::device::profiler::id(name);               \
    fictl_profiler.record(fictl_event, ::fictl::device::profiler::kind, ##__VA_ARGS__); \
  } while (false)

#define FICTL_EVENT(...) FICTL_RECORD(kInstant, __VA_ARGS__)
#define FICTL_BEGIN(...) FICTL_RECORD(kBegin, __VA_ARGS__)
#define FICTL_END(...) FICTL_RECORD(kEnd, __VA_ARGS__)

#define FICTL_SCOPE(name)                                                                       \
  constexpr uint32_t FICTL_JOINED(fictl_event, __LINE__) = ::fictl::device::profiler::id(name); \
  const ::fictl::device::Profiler::Scope FICTL_JOINED(fictl_scope, __LINE__)(                   \
      fictl_profiler, FICTL_JOINED(fictl_event, __LINE__))

#endif
