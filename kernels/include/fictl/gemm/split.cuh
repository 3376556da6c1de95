// Sums of a product whose k is split over blocks: each part is stored in fp32, then added to the
// others in their order, so that results are the same bits in every run.
#pragma once

#include <fictl/device/launch.cuh>
#include <fictl/device/row_units.cuh>
#include <fictl/device/vec.cuh>
#include <fictl/gemm/epilogue.cuh>
#include <fictl/gemm/output.cuh>
#include <fictl/gemm/problem.cuh>

namespace fictl::gemm {

// Partial sums, [parts][batch * m][columns], columns being n rounded up to whole pairs.
struct SplitSums {
  float* data;
  int parts;
  int64_t rows;
  int columns;

  template <typename T, typename Out>
  static SplitSums of(const GemmProblem<T, Out>& problem, int parts) {
    return {static_cast<float*>(problem.workspace), parts, int64_t{problem.batch} * problem.m,
            problem.n + problem.n % 2};
  }

  int64_t bytes() const {
    return parts == 1 ? 0 : parts * rows * columns * static_cast<int64_t>(sizeof(float));
  }

  __device__ float2* at(int part, int64_t row, int column) const {
    return reinterpret_cast<float2*>(data + (part * rows + row) * columns + column);
  }
};

constexpr int kSumPartsThreads = 256;

// A thread has two neighbouring columns.
template <typename T, typename Out, typename Epilogue>
__global__ void __launch_bounds__(kSumPartsThreads)
    SumPartsKernel(const GemmProblem<T, Out> problem, const Epilogue epilogue, const SplitSums sums,
                   device::RowUnits<1> pairs, device::Divisor rows) {
  const auto mine = pairs.mine(0);
  device::pdl_wait();
  device::pdl_trigger();
  if (!mine.exists) return;
  const int column = mine.unit * 2;
  float2 sum = *sums.at(0, mine.row, column);
#pragma unroll 4
  for (int part = 1; part < sums.parts; ++part) {
    const float2 more = *sums.at(part, mine.row, column);
    sum = {sum.x + more.x, sum.y + more.y};
  }
  const auto at = rows.divide(static_cast<int>(mine.row));
  store_pair(problem, epilogue, sum, {at.quotient, at.remainder, column});
}

template <typename T, typename Out, typename Epilogue>
cudaError_t SumParts(const GemmProblem<T, Out>& problem, const Epilogue& epilogue,
                     const SplitSums& sums, cudaStream_t stream, bool pdl) {
  if (sums.rows > INT32_MAX) return cudaErrorInvalidValue;
  const device::RowUnits<1> pairs(sums.rows, sums.columns / 2, kSumPartsThreads);
  device::LaunchConfig config;
  config.grid = pairs.grid();
  config.block = pairs.block();
  config.stream = stream;
  config.pdl = pdl;
  return device::launch<SumPartsKernel<T, Out, Epilogue>>(config, problem, epilogue, sums, pairs,
                                                          device::Divisor(problem.m));
}

}  // namespace fictl::gemm
