// Fences between ordinary accesses and those of the asynchronous proxy: bulk copies and wgmma.
//
//   first                  then                needed
//   bulk load              any read            wait for its mbarrier
//   stores to shared       bulk store or       each writer: fence_async_shared(), then a barrier
//   memory                 wgmma reads them
//   loads                  bulk load           each reader: fence_async_shared(), then its arrival
//                          overwrites them
//   wgmma reads            bulk load           wait for the wgmma, then arrive
//                          overwrites them
//   bulk store reads       stores              bulk_wait_read() by the thread that has committed
//                                              it, then a barrier
//   stores to global       bulk load           fence_async_global(), then a barrier
//   memory                 reads them
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
