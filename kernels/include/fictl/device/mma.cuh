// Products on tensor cores by one warp, and the loads that hand its lanes their operands.
//
// d[16][8] += a[16][16] b[8][16]^T, for GPUs from sm_80 on. A lane holds of d:
//   d[0], d[1]   row lane / 4, columns lane % 4 * 2 and the next
//   d[2], d[3]   row lane / 4 + 8, the same columns
// and of a and b what ldmatrix_x4 gives it: all of a, or two neighbours b, when every lane points
// at the chunk of 16 bytes that MmaA or MmaB names. The rows of a and of b run along k.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <fictl/device/copy.cuh>

namespace fictl::device {

constexpr int kMmaM = 16;
constexpr int kMmaN = 8;
constexpr int kMmaK = 16;

// Where a lane points ldmatrix_x4 for a[16][16].
struct MmaA {
  static __device__ int row(int lane) { return lane % 16; }
  static __device__ int chunk(int lane) { return lane / 16; }
};

// For b[16][16], the operands of two products: registers 0 and 1 are the first's.
struct MmaB {
  static __device__ int row(int lane) { return lane / 16 * 8 + lane % 8; }
  static __device__ int chunk(int lane) { return lane / 8 % 2; }
};

// Four matrices of 8 rows of a chunk each; lane i points at row i % 8 of matrix i / 8.
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

template <typename T>
__device__ void mma_m16n8k16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1);

template <>
__device__ inline void mma_m16n8k16<__half>(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                                            uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

template <>
__device__ inline void mma_m16n8k16<__nv_bfloat16>(float (&d)[4], const uint32_t (&a)[4],
                                                   uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

}  // namespace fictl::device
