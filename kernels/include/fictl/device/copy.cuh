// Asynchronous copies from global to shared memory in chunks of 16 bytes; and hints of what will be
// read.
#pragma once

#include <fictl/device/shared.cuh>

namespace fictl::device {

constexpr int kChunkBytes = 16;

// Starts the copy of a chunk; both pointers are aligned to 16 bytes.
__device__ inline void copy_async(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], %2;" ::"r"(shared_address(to)),
               "l"(from), "n"(kChunkBytes)
               : "memory");
}

// The same, but only the first `bytes` are read; the others become zero. If `bytes` is 0, `from`
// may point anywhere. Takes ten instructions, where the one above takes three.
__device__ inline void copy_async(void* to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], %2, %3;" ::"r"(shared_address(to)),
               "l"(from), "n"(kChunkBytes), "r"(bytes)
               : "memory");
}

// The same of 4, 8 or 16 bytes, to which both pointers are aligned; through L1 where they are
// fewer.
template <int kBytes>
__device__ void copy_async_few(void* to, const void* from, int bytes) {
  if constexpr (kBytes == kChunkBytes) {
    copy_async(to, from, bytes);
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(to)),
                 "l"(from), "n"(kBytes), "r"(bytes)
                 : "memory");
  }
}

// Commits the copies that this thread has started as a group, which may be empty.
__device__ inline void copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Waits until at most the last kPending groups of this thread are in flight. Other threads see the
// copied data after a barrier.
template <int kPending>
__device__ void copy_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

// Brings the line of 128 bytes around `from` to L2. Nothing is read: what earlier kernels have yet
// to write there may be asked for, too.
constexpr int kLineBytes = 128;
__device__ inline void prefetch_line(const void* from) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
}

}  // namespace fictl::device
