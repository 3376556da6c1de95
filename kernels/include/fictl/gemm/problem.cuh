// One matrix product as every GEMM kernel takes it: D[i] = epilogue(A[i] B[i]^T) for each i of a
// batch, with sums in fp32.
//
// A is [m][k], B is [n][k] (a weight as a linear layer stores it), D is [m][n], or [m][n / 2] where
// the epilogue makes one output of two columns. Strides are in elements and may be anything that
// addresses real memory: a stride of 0 repeats, a_k == 1 is row-major, a_row == 1 column-major.
// The columns of D are contiguous.
//
// A kernel fixes at compile time which dimension of an operand is contiguous: then the stride of
// the other one counts, and the stride of the contiguous one is 1.
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

#include <fictl/device/major.cuh>

namespace fictl::gemm {

template <typename T, typename Out>
struct GemmProblem {
  const T* a;
  const T* b;
  Out* d;
  int batch;
  int m;
  int n;  // rows of B, which are the columns of the product
  int k;
  int64_t a_row;
  int64_t a_k;
  int64_t a_batch;
  int64_t b_row;  // along n
  int64_t b_k;
  int64_t b_batch;
  int64_t d_row;
  int64_t d_batch;
  void* workspace;  // for partial sums and repacked operands; null where none is needed
  int64_t workspace_bytes;
  int sm_count;  // that the kernel may fill
  bool limited;  // to fewer than the GPU has, which kernels with a block a tile have to know

  bool empty() const { return batch == 0 || m == 0 || n == 0; }
};

using device::Major;

}  // namespace fictl::gemm
