// Attention of all items of a problem, whatever its tiles: the kernel of their height, and the
// merge of those whose keys were split.
#pragma once

#include <fictl/attention/decode.cuh>
#include <fictl/attention/merge.cuh>
#include <fictl/attention/prefill.cuh>
#include <fictl/attention/problem.cuh>

namespace fictl::attention {

// Nothing is compiled but the kernel of Config::kRows, and the merge. With `pdl` a kernel starts
// while its predecessor on the stream ends, where the GPU can.
template <typename Config>
cudaError_t Attend(const Problem<Config>& problem, cudaStream_t stream = nullptr,
                   bool pdl = false) {
  if (problem.item_count == 0 || problem.kv_heads == 0) return cudaSuccess;
  cudaError_t status;
  if constexpr (Config::kRows <= 16) {
    status = Decode(problem, stream, pdl);
  } else {
    status = Prefill(problem, stream, pdl);
  }
  return status == cudaSuccess ? MergeParts(problem, stream, pdl) : status;
}

}  // namespace fictl::attention
