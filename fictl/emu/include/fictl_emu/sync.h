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

inline unsigned __clusterDimIsSpecified() { return 0; }

#define FICTL_EMU_NO_CLUSTERS(Result, name, parameters) \
  [[noreturn]] inline Result name parameters { fictl_emu_missing(#name "()", file, line); }
FICTL_EMU_NO_CLUSTERS(dim3, __clusterDim, (FICTL_EMU_HERE))
FICTL_EMU_NO_CLUSTERS(dim3, __clusterRelativeBlockIdx, (FICTL_EMU_HERE))
FICTL_EMU_NO_CLUSTERS(dim3, __clusterGridDimInClusters, (FICTL_EMU_HERE))
FICTL_EMU_NO_CLUSTERS(dim3, __clusterIdx, (FICTL_EMU_HERE))
FICTL_EMU_NO_CLUSTERS(unsigned, __clusterRelativeBlockRank, (FICTL_EMU_HERE))
FICTL_EMU_NO_CLUSTERS(unsigned, __clusterSizeInBlocks, (FICTL_EMU_HERE))
FICTL_EMU_NO_CLUSTERS(void, __cluster_barrier_arrive, (FICTL_EMU_HERE))
FICTL_EMU_NO_CLUSTERS(void, __cluster_barrier_arrive_relaxed, (FICTL_EMU_HERE))
FICTL_EMU_NO_CLUSTERS(void, __cluster_barrier_wait, (FICTL_EMU_HERE))
FICTL_EMU_NO_CLUSTERS(void, __threadfence_cluster, (FICTL_EMU_HERE))
FICTL_EMU_NO_CLUSTERS(unsigned, __isClusterShared, (const void*, FICTL_EMU_HERE))
FICTL_EMU_NO_CLUSTERS(void*, __cluster_map_shared_rank, (const void*, unsigned, FICTL_EMU_HERE))
FICTL_EMU_NO_CLUSTERS(unsigned, __cluster_query_shared_rank, (const void*, FICTL_EMU_HERE))
FICTL_EMU_NO_CLUSTERS(uint2, __cluster_map_shared_multicast,
                      (const void*, unsigned, FICTL_EMU_HERE))
#undef FICTL_EMU_NO_CLUSTERS
