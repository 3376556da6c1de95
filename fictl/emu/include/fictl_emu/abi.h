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

// CLUSTER: of another block of the cluster.
enum FictlEmuSpace { FICTL_EMU_GLOBAL, FICTL_EMU_SHARED, FICTL_EMU_LOCAL, FICTL_EMU_CLUSTER };
int fictl_emu_space(const void* pointer);

// ---- asynchronous copies (cp.async) ----

// `source_bytes` are copied, the rest up to `bytes` is zero.
void fictl_emu_copy_async(void* to, const void* from, int bytes, int source_bytes);
void fictl_emu_copy_commit(void);
void fictl_emu_copy_wait(int pending_groups);  // -1: all, committed or not

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
