// Tensor maps in launchers: made, or refused with the op, the argument and the rule that is broken.
//
//   const CUtensorMap map = fictl::tensor_map(launch, "x", spec);
#pragma once

#include <binding/launch.h>
#include <limits.h>

#include <fictl/device/hopper/tensor_map.cuh>

namespace fictl {

inline CUtensorMap tensor_map(const Launch& launch, const char* argument,
                              const device::TensorMapSpec& spec) {
  if (const device::TensorMapProblem problem = device::tensor_map_problem(spec)) {
    throw argument_error(ErrorKind::ValueError, launch.op, argument)
        << "is not a tensor that bulk copies can address: " << problem.text
        << "; pass a copy whose rows are padded to multiples of 16 bytes";
  }
  for (uint32_t i = 0; i < spec.dimensions; ++i) {
    if (spec.size[i] <= INT_MAX) continue;
    throw argument_error(ErrorKind::ValueError, launch.op, argument)
        << "has " << static_cast<int64_t>(spec.size[i]) << " elements in a dimension; bulk copies "
        << "count them up to " << INT_MAX << ": split it";
  }
  CUtensorMap map;
  check_cuda(launch.op, device::make_tensor_map(spec, &map), "make_tensor_map");
  return map;
}

}  // namespace fictl
