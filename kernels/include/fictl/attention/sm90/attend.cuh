// Attention of all items of a problem on Hopper: the kernel, and the merge of those whose keys were
// split.
#pragma once

#include <fictl/attention/merge.cuh>
#include <fictl/attention/sm90/prefill.cuh>

namespace fictl::attention {

template <typename Config>
cudaError_t AttendSm90(const Problem<Config>& problem, const sm90::Extents& extents, int sm_count,
                       cudaStream_t stream = nullptr, bool pdl = false) {
  if (problem.item_count == 0 || problem.kv_heads == 0) return cudaSuccess;
  const cudaError_t status = PrefillSm90(problem, extents, sm_count, stream, pdl);
  return status == cudaSuccess ? MergeParts(problem, stream, pdl) : status;
}

}  // namespace fictl::attention
