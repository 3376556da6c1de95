// The store of outputs from registers, as mma.sync leaves them: two neighbouring columns a thread.
#pragma once

#include <fictl/device/element.cuh>
#include <fictl/device/vec.cuh>
#include <fictl/gemm/epilogue.cuh>
#include <fictl/gemm/problem.cuh>

namespace fictl::gemm {

// Applies the epilogue to the sums of at.column and the next column, and stores what it returns.
template <typename T, typename Out, typename Epilogue>
__device__ void store_pair(const GemmProblem<T, Out>& problem, const Epilogue& epilogue,
                           float2 sums, TileElement at) {
  using Number = device::Element<Out>;
  const float2 result = epilogue(sums, at);
  Out* row = problem.d + at.batch * problem.d_batch + at.row * problem.d_row;
  if constexpr (Epilogue::kColumnsPerOutput == 2) {
    row[at.column / 2] = Number::from_float(result.x);
  } else {
    Out* to = row + at.column;
    const bool both = at.column + 1 < problem.n;
    if (both && reinterpret_cast<uintptr_t>(to) % (2 * sizeof(Out)) == 0) {
      device::Vec<Out, 2> pair{{Number::from_float(result.x), Number::from_float(result.y)}};
      device::store_l2(to, pair);
      return;
    }
    to[0] = Number::from_float(result.x);
    if (both) to[1] = Number::from_float(result.y);
  }
}

}  // namespace fictl::gemm
