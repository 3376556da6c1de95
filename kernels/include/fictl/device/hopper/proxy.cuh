// Fences between ordinary accesses and those of the asynchronous proxy: bulk copies and wgmma.
//
//   first                              then                        needed
//   bulk load                          any read                    wait for its mbarrier
//   ordinary stores to shared memory   bulk store or wgmma         each writer:
//   fence_async_shared(),
//                                      reads them                  then a barrier
//   ordinary loads                     bulk load overwrites them   each reader:
//   fence_async_shared(),
//                                                                  then its arrival
//   wgmma reads                        bulk load overwrites them   wait for the wgmma, then arrive
//   bulk store reads                   ordinary stores             bulk_wait_read() by the thread
//   that
//                                                                  has committed it, then a barrier
//   ordinary stores to global memory   bulk load reads them        fence_async_global(), then a
//   barrier
//
// A barrier orders threads; it does not cross from one proxy to the other.
#pragma once

#include <cuda_runtime.h>

namespace fictl::device {

__device__ inline void fence_async_shared() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ inline void fence_async_global() {
  asm volatile("fence.proxy.async.global;" ::: "memory");
}

}  // namespace fictl::device
