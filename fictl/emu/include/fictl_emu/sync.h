// Synchronisation and time: barriers, fences, sleeping, clocks, traps.
#pragma once

#include <fictl_emu/abi.h>

#include <time.h>

#ifndef warpSize
static constexpr int warpSize = 32;
#endif

// ---- barriers ----

inline void __syncthreads(FICTL_EMU_HERE) { fictl_emu_barrier(0, 0, file, line); }
inline int __syncthreads_count(int predicate, FICTL_EMU_HERE) {
  return fictl_emu_barrier_vote(predicate, FICTL_EMU_COUNT, file, line);
}
inline int __syncthreads_and(int predicate, FICTL_EMU_HERE) {
  return fictl_emu_barrier_vote(predicate, FICTL_EMU_AND, file, line);
}
inline int __syncthreads_or(int predicate, FICTL_EMU_HERE) {
  return fictl_emu_barrier_vote(predicate, FICTL_EMU_OR, file, line);
}
inline void __barrier_sync(unsigned id, FICTL_EMU_HERE) {
  fictl_emu_barrier(static_cast<int>(id), 0, file, line);
}
inline void __barrier_sync_count(unsigned id, unsigned threads, FICTL_EMU_HERE) {
  fictl_emu_barrier(static_cast<int>(id), static_cast<int>(threads), file, line);
}

// ---- fences ----

inline void __threadfence_block() { fictl_emu_fence(FICTL_EMU_BLOCK); }
inline void __threadfence() { fictl_emu_fence(FICTL_EMU_DEVICE); }
inline void __threadfence_system() { fictl_emu_fence(FICTL_EMU_SYSTEM); }

// ---- time ----

inline void __nanosleep(unsigned, FICTL_EMU_HERE) { fictl_emu_yield(0, file, line); }

inline long long clock64() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<long long>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

// ---- the end ----

[[noreturn]] inline void __trap(FICTL_EMU_HERE) { fictl_emu_stop("trap", "__trap()", file, line); }
inline void __brkpt() {}
inline void __prof_trigger(int) {}

// ---- clusters ----

inline unsigned __clusterDimIsSpecified() { return fictl_emu_cluster().is_explicit; }
inline dim3 __clusterDim() { return fictl_emu_cluster().shape; }
inline dim3 __clusterRelativeBlockIdx() { return fictl_emu_cluster().block; }
inline dim3 __clusterGridDimInClusters() { return fictl_emu_cluster().count; }
inline dim3 __clusterIdx() { return fictl_emu_cluster().index; }
inline unsigned __clusterRelativeBlockRank() { return fictl_emu_cluster().rank; }
inline unsigned __clusterSizeInBlocks() { return fictl_emu_cluster().blocks; }
inline void __cluster_barrier_arrive(FICTL_EMU_HERE) { fictl_emu_cluster_arrive(1, file, line); }
inline void __cluster_barrier_arrive_relaxed(FICTL_EMU_HERE) {
  fictl_emu_cluster_arrive(0, file, line);
}
inline void __cluster_barrier_wait(FICTL_EMU_HERE) { fictl_emu_cluster_wait(file, line); }
inline void __threadfence_cluster() { fictl_emu_fence(FICTL_EMU_DEVICE); }
inline void* __cluster_map_shared_rank(const void* pointer, unsigned rank, FICTL_EMU_HERE) {
  return fictl_emu_map_shared(pointer, rank, file, line);
}
inline unsigned __cluster_query_shared_rank(const void* pointer, FICTL_EMU_HERE) {
  return fictl_emu_shared_rank(pointer, file, line);
}
[[noreturn]] inline uint2 __cluster_map_shared_multicast(const void*, unsigned, FICTL_EMU_HERE) {
  fictl_emu_missing("__cluster_map_shared_multicast()", file, line);
}
