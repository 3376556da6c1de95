// Stores of accumulators to shared memory: the reverse of ldmatrix.
//
// Register i of a lane is of matrix i, row lane / 4, columns lane % 4 * 2 and the next, as in the
// accumulators of wgmma.cuh packed to 16 bits. Lane l passes the address of row l % 8 of matrix
// l / 8, 16 bytes.
#pragma once

#include <fictl/device/shared.cuh>

namespace fictl::device {

__device__ inline void stmatrix_x4(void* row, uint32_t r0, uint32_t r1, uint32_t r2, uint32_t r3) {
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(row)),
      "r"(r0), "r"(r1), "r"(r2), "r"(r3)
      : "memory");
}

// Each matrix transposed: register i is then of column lane / 4, rows lane % 4 * 2 and the next.
__device__ inline void stmatrix_x4_trans(void* row, uint32_t r0, uint32_t r1, uint32_t r2,
                                         uint32_t r3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                   shared_address(row)),
               "r"(r0), "r"(r1), "r"(r2), "r"(r3)
               : "memory");
}

}  // namespace fictl::device
