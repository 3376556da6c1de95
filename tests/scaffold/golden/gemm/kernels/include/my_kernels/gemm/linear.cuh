// linear: out = a b^T: products of 16-bit values on tensor cores, summed in fp32 and rounded once.
//
// This header has what happens to each sum before it is rounded. The kernels are fictl's, a backend
// each; their headers say what they read, why their tiles are such, and where the time goes:
//
//   sm90   <fictl/gemm/dense_sm90.cuh>   Hopper: one thread loads tiles by bulk copies, two
//                                        warpgroups multiply them (wgmma) and store their results
//   sm80   <fictl/gemm/dense_sm80.cuh>   from sm_80 on: cp.async, ldmatrix, mma.sync
//
// The tiles are chosen in launcher_sm90.cu and launcher_sm80.cu.
#pragma once

#include <fictl/gemm/epilogue.cuh>

namespace my_kernels::gemm {

// The place for a bias, an activation, a residual. It is called for every two neighbouring columns
// of a row, with their sums; at.row and at.column are those of the first. The second column may be
// the one beyond the last: read no memory for it.
//
// What it needs besides are its members, which the launchers set: a kernel takes it by value. With
// kColumnsPerOutput = 2, two columns become one output, the x of what is returned, as in a swiglu;
// then out has half as many columns, in op.py, trace.py and binding.cpp, too.
struct LinearEpilogue {
  static constexpr int kColumnsPerOutput = 1;

  __device__ float2 operator()(float2 sums, fictl::gemm::TileElement at) const { return sums; }
};

}  // namespace my_kernels::gemm
