// The runtime's interface for compiled kernels: plain C symbols, so that a module of any compiler
// works with the runtime of another, and prefixed, so that none can meet one of a real CUDA
// runtime.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <vector_types.h>

#define FICTL_EMU_TLS __attribute__((tls_model("initial-exec")))

// Where in the source something is called from: the last parameters of what users call.
#define FICTL_EMU_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

#pragma GCC visibility push(default)
extern "C" {

// Indices of the running thread. Why variables and not macros: cudaLaunchConfig_t has members that
// are named like two of them.
extern __thread uint3 threadIdx __asm__("fictl_emu_threadIdx") FICTL_EMU_TLS;
extern __thread uint3 blockIdx __asm__("fictl_emu_blockIdx") FICTL_EMU_TLS;
extern __thread dim3 blockDim __asm__("fictl_emu_blockDim") FICTL_EMU_TLS;
extern __thread dim3 gridDim __asm__("fictl_emu_gridDim") FICTL_EMU_TLS;

struct FictlEmuRegisters {
  uint32_t lane, warp;
};
extern __thread FictlEmuRegisters fictl_emu_registers FICTL_EMU_TLS;

// The running thread's block in its cluster: shapes in blocks, and the clusters of the grid.
struct FictlEmuCluster {
  dim3 shape, count;
  uint3 index, block;
  uint32_t rank, blocks;
  int is_explicit;  // the launch or the kernel names the shape
};
FictlEmuCluster fictl_emu_cluster(void);  // by value: the checker knows the stack

// ---- launch ----

struct FictlEmuLaunch {
  const char* kernel;    // as the launch writes it
  const void* function;  // its address, for its attributes and its name; null where it has none
  dim3 grid, block, cluster;
  size_t dynamic_shared;
  int cooperative;
  void (*body)(const void* arguments);  // what one thread runs
  const void* arguments;
  size_t argument_bytes;
  // For a launch that is kept until those of other ranks are there.
  const void* (*copy)(const void* arguments);
  void (*discard)(const void* copied);
  int programmatic;  // it may begin before the kernel before it has ended
};
int fictl_emu_launch(const FictlEmuLaunch*);  // a cudaError_t
// __cluster_dims__ of the kernel, which each of its threads passes first.
void fictl_emu_cluster_dims(unsigned x, unsigned y = 1, unsigned z = 1);

// ---- synchronisation ----

// `threads` 0: all of the block that have not returned.
void fictl_emu_barrier(int id, int threads, const char* file, int line);
void fictl_emu_barrier_arrive(int id, int threads, const char* file, int line);
// The aligned forms: the lanes of a warp come together, and count as 32.
void fictl_emu_bar_sync(int id, int threads, const char* file, int line);
void fictl_emu_bar_arrive(int id, int threads, const char* file, int line);

enum FictlEmuVote { FICTL_EMU_COUNT, FICTL_EMU_AND, FICTL_EMU_OR };
int fictl_emu_barrier_vote(int predicate, int how, const char* file, int line);

void fictl_emu_grid_sync(const char* file, int line);

// barrier.cluster: what a thread has done before a `release`d arrival is known behind the wait.
void fictl_emu_cluster_arrive(int release, const char* file, int line);
void fictl_emu_cluster_wait(const char* file, int line);

// griddepcontrol: the kernels before this one have ended; the next may begin.
void fictl_emu_dependencies_wait(void);
void fictl_emu_dependents_launch(void);

// One step of a warp: each lane that `mask` names comes with its argument, and the last one runs
// `step` over all of them (null for lanes that are not there). `name` is for reports, and the
// lanes of one operation must pass the same pointer. `meeting` is made of FictlEmuMeeting.
typedef void (*FictlEmuStep)(void* const* arguments, uint32_t lanes);
void fictl_emu_warp(const char* name, uint32_t mask, void* argument, FictlEmuStep step, int meeting,
                    const char* file, int line);
enum FictlEmuMeeting {
  FICTL_EMU_ORDERS_MEMORY = 1,  // as __syncwarp() does
  FICTL_EMU_NEEDS_ALL = 2       // gives what every lane has: one that has returned has nothing
};

// A lane has shuffled a value from the lane `from`, which is not among those `present`. Returns
// where that does not matter: at the end of a group that values move towards.
enum FictlEmuDirection { FICTL_EMU_UP = -1, FICTL_EMU_ANYWHERE = 0, FICTL_EMU_DOWN = 1 };
void fictl_emu_shuffled_from_nobody(const char* name, uint32_t mask, uint32_t present,
                                    uint32_t from, int direction, const char* file, int line);

// The lanes that are at this place together: those that have come when no other can.
uint32_t fictl_emu_activemask(const char* file, int line);

// Lets the other threads run: in spin loops. `progress` is non-zero where the caller has changed
// memory, so that it does not count as spinning.
void fictl_emu_yield(int progress, const char* file, int line);

// __threadfence and its relatives.
enum FictlEmuScope { FICTL_EMU_BLOCK, FICTL_EMU_DEVICE, FICTL_EMU_SYSTEM };
void fictl_emu_fence(int scope);

// ---- shared memory ----

// The variable of this block; `key` is one address for one declaration.
void* fictl_emu_shared(const void* key, size_t bytes, size_t align, const char* name);
void* fictl_emu_dynamic_shared(void);
// `base` for accesses to the part alone that has `bytes` from base + offset on. In check mode an
// access by way of it to anything else is reported.
const char* fictl_emu_shared_part(const char* base, size_t offset, size_t bytes, const char* name);
// Between pointers and the 32-bit addresses that PTX has for shared memory: that of the block, or,
// with the block's rank from bit 24 on, of any block of the cluster.
uint32_t fictl_emu_shared_address(const void* pointer, const char* file, int line);
uint32_t fictl_emu_cluster_address(const void* pointer, const char* file, int line);
void* fictl_emu_shared_pointer(uint32_t address);
void* fictl_emu_cluster_pointer(uint32_t address);
void* fictl_emu_cluster_target(uint32_t address);  // for an access: the block must be there
// mapa: the same place in the block of that rank; and getctarank.
void* fictl_emu_map_shared(const void* pointer, uint32_t rank, const char* file, int line);
uint32_t fictl_emu_shared_rank(const void* pointer, const char* file, int line);

// PEER: shared memory of another block of the cluster.
enum FictlEmuSpace { FICTL_EMU_GLOBAL, FICTL_EMU_SHARED, FICTL_EMU_LOCAL, FICTL_EMU_PEER };
int fictl_emu_space(const void* pointer);

// ---- asynchronous copies (cp.async) ----

// `source_bytes` are copied, the rest up to `bytes` is zero.
void fictl_emu_copy_async(void* to, const void* from, int bytes, int source_bytes);
void fictl_emu_copy_commit(void);
void fictl_emu_copy_wait(int pending_groups);  // -1: all, committed or not
// One arrival at an mbarrier when all earlier copies of this thread have landed. `counts` is
// non-zero where the barrier is to expect it besides the arrivals that it is initialised for.
void fictl_emu_copy_arrive(void* barrier, int counts);

// ---- mbarriers (addresses are of shared memory) ----

enum FictlEmuMbarrierUse {
  FICTL_EMU_BY_PARITY = 1,  // a wait for the phase of a parity, not of a state that arrive gave
  FICTL_EMU_TEST = 2,       // a wait that does not sleep
  FICTL_EMU_RELAXED = 4,    // orders no memory
  FICTL_EMU_CLUSTER = 8,    // orders memory of all blocks of the cluster
  FICTL_EMU_DROP = 16       // an arrival that later phases do not expect
};
void fictl_emu_mbarrier_init(void* barrier, uint32_t count);
void fictl_emu_mbarrier_inval(void* barrier);
// Adds `bytes` to what the phase expects, then `count` arrivals. Returns the state from before.
uint64_t fictl_emu_mbarrier_arrive(void* barrier, uint32_t count, uint32_t bytes, int how);
void fictl_emu_mbarrier_expect(void* barrier, uint32_t bytes);
void fictl_emu_mbarrier_complete(void* barrier, uint32_t bytes);
// Non-zero if the phase of that parity, or state, is over.
int fictl_emu_mbarrier_wait(void* barrier, uint64_t which, int how, const char* file, int line);

// ---- bulk copies ----

enum FictlEmuReduction {
  FICTL_EMU_NO_REDUCTION = -1,
  FICTL_EMU_ADD,
  FICTL_EMU_MIN,
  FICTL_EMU_MAX,
  FICTL_EMU_BIT_AND,
  FICTL_EMU_BIT_OR,
  FICTL_EMU_BIT_XOR
};
enum FictlEmuElement {
  FICTL_EMU_U32,
  FICTL_EMU_S32,
  FICTL_EMU_U64,
  FICTL_EMU_S64,
  FICTL_EMU_F16,
  FICTL_EMU_BF16,
  FICTL_EMU_F32,
  FICTL_EMU_F64
};
// Into shared memory, with the bytes completed at `barrier`. A non-zero `mask` names the blocks of
// the cluster that get them, each at the same offset.
void fictl_emu_bulk_load(void* to, const void* from, uint32_t bytes, void* barrier, uint32_t mask);
// st.async: `bytes` at `value`, 4, 8 or 16, which complete at a barrier of the block that has `to`.
void fictl_emu_async_store(void* to, const void* value, uint32_t bytes, void* barrier);
// From shared to global memory, in a bulk group of the thread. `element` is of the reduction.
void fictl_emu_bulk_store(void* to, const void* from, uint32_t bytes, int reduction, int element);
// A box of a tensor map; coordinates are innermost first.
void fictl_emu_tensor_load(void* to, const void* map, const int32_t* at, int rank, void* barrier,
                           uint32_t mask);
void fictl_emu_tensor_store(const void* map, const int32_t* at, int rank, const void* from,
                            int reduction);
void fictl_emu_bulk_commit(void);
// `reads`: until the sources may change; else until all is written.
void fictl_emu_bulk_wait(uint32_t pending_groups, int reads);

// Between accesses of threads and of asynchronous operations. Check mode alone takes notice.
enum FictlEmuProxyFence {
  FICTL_EMU_PROXY_ALL,
  FICTL_EMU_PROXY_SHARED,
  FICTL_EMU_PROXY_GLOBAL,
  FICTL_EMU_PROXY_BARRIERS,  // fence.mbarrier_init
  FICTL_EMU_PROXY_MAPS       // fence.proxy.tensormap
};
void fictl_emu_proxy_fence(int kind);

// ---- the end of a kernel, or of a thread ----

// Ends the kernel with a report. `kind` is a word of fictl/emu/report.py.
[[noreturn]] void fictl_emu_stop(const char* kind, const char* what, const char* file, int line);
[[noreturn]] void fictl_emu_missing(const char* what, const char* file, int line);
[[noreturn]] void fictl_emu_exit_thread(void);

// ---- accesses that no compiler instruments ----

enum FictlEmuAccess { FICTL_EMU_READ = 0, FICTL_EMU_WRITE = 1, FICTL_EMU_ATOMIC = 2 };
// Before the access; ATOMIC is a bit beside READ or WRITE. Costs one call outside of check mode.
void fictl_emu_access(const void* address, size_t bytes, int kind);
}
#pragma GCC visibility pop

// Macros for check mode: is this module compiled for it, and an attribute that keeps the compiler's
// hooks out of a function that reports its accesses itself.
#if defined(__SANITIZE_THREAD__)
#define FICTL_EMU_CHECKED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FICTL_EMU_CHECKED 1
#endif
#endif
#if !defined(FICTL_EMU_CHECKED)
#define FICTL_EMU_UNCHECKED
#elif defined(__clang__)
// Clang has hooks for atomic operations even where no_sanitize("thread") stands.
#define FICTL_EMU_UNCHECKED \
  __attribute__((no_sanitize("thread", "undefined"), disable_sanitizer_instrumentation))
#else
#define FICTL_EMU_UNCHECKED __attribute__((no_sanitize("thread", "undefined")))
#endif
