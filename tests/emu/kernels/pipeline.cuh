// The instructions that the matrix kernels here share: cp.async, ldmatrix and mma.sync.
//
// All operand types look alike to them: ldmatrix moves rows of 16 bytes, and one mma.sync takes 32
// bytes of K, which are 16 halves, 8 tf32 or 32 bytes.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <stdint.h>

namespace pipeline {

constexpr int kChunk = 16;  // bytes of one cp.async, and of one row of a matrix of ldmatrix
constexpr int kDepth = 32;  // bytes of K that one mma.sync takes

__device__ inline uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// Begins to copy 16 bytes: the first `bytes` from memory, the others are zero.
__device__ inline void copy_async(void* to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(shared_address(to)),
               "l"(from), "r"(bytes)
               : "memory");
}

// Ends a group of copies, which may be empty.
__device__ inline void commit() { asm volatile("cp.async.commit_group;\n" ::: "memory"); }

// Until at most the last kPending groups are on their way.
template <int kPending>
__device__ void wait() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(kPending) : "memory");
}

// Four matrices of eight rows; `row` of lane i is row i % 8 of matrix i / 8.
__device__ inline void load_matrices(uint32_t (&to)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_address(row))
               : "memory");
}

__device__ inline void load_transposed(uint32_t (&to)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_address(row))
               : "memory");
}

__device__ inline float exp2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// What a float is to mma.sync: rounded to 10 bits of mantissa.
__device__ inline uint32_t to_tf32(uint32_t bits) {
  uint32_t rounded;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(__uint_as_float(bits)));
  return rounded;
}

// d[16][8] += a[16][K] b[8][K]^T.
#define PIPELINE_MMA(shape, types, registers)                                       \
  asm volatile("mma.sync.aligned." shape ".row.col." types                          \
               " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n" \
               : registers(d[0]), registers(d[1]), registers(d[2]), registers(d[3]) \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))

// Operands of type T: what their products are summed in, and the instruction.
template <typename T>
struct Mma;

template <>
struct Mma<__half> {
  using Sum = float;
  static __device__ void add(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    PIPELINE_MMA("m16n8k16", "f32.f16.f16.f32", "+f");
  }
};

template <>
struct Mma<__nv_bfloat16> {
  using Sum = float;
  static __device__ void add(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    PIPELINE_MMA("m16n8k16", "f32.bf16.bf16.f32", "+f");
  }
};

// The operands have been through to_tf32().
template <>
struct Mma<float> {
  using Sum = float;
  static __device__ void add(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    PIPELINE_MMA("m16n8k8", "f32.tf32.tf32.f32", "+f");
  }
};

template <>
struct Mma<int8_t> {
  using Sum = int;
  static __device__ void add(int (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    PIPELINE_MMA("m16n8k32", "s32.s8.s8.s32", "+r");
  }
};

// From sm_89 on.
template <>
struct Mma<__nv_fp8_e4m3> {
  using Sum = float;
  static __device__ void add(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
    PIPELINE_MMA("m16n8k32", "f32.e4m3.e4m3.f32", "+f");
#else
    __trap();
#endif
  }
};

#undef PIPELINE_MMA

}  // namespace pipeline
