// Loads from shared memory that hand the lanes of a warp matrices of 8 rows of 16 bytes, spread as
// the operands of mma.cuh are: register i of a lane is of matrix i, row lane / 4, bytes
// lane % 4 * 4 and the next three. For GPUs from sm_75 on.
//
// The rows of a matrix may lie anywhere, at multiples of 16 bytes. In tiles whose chunks are where
// swizzle.cuh puts them, no load meets a bank conflict.
#pragma once

#include <fictl/device/shared.cuh>

namespace fictl::device {

// The row and column that a lane passes to ldmatrix_x4 for a[16][16], the operand of one product of
// mma.cuh with 16-bit elements.
struct MmaA {
  static __device__ int row(int lane) { return lane % 16; }
  static __device__ int chunk(int lane) { return lane / 16; }
};

// The same for b[16][16], the operands of two products: registers 0 and 1 belong to the first.
struct MmaB {
  static __device__ int row(int lane) { return lane / 16 * 8 + lane % 8; }
  static __device__ int chunk(int lane) { return lane / 8 % 2; }
};

// Loads four matrices of 8 rows of 16 bytes; lane i passes the address of row i % 8 of matrix i /
// 8.
__device__ inline void ldmatrix_x4(uint32_t (&to)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_address(row))
               : "memory");
}

// The same, each matrix transposed: where rows run along n, [k][n], it gives b of two products from
// the places that MmaA names.
__device__ inline void ldmatrix_x4_trans(uint32_t (&to)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_address(row))
               : "memory");
}

}  // namespace fictl::device
