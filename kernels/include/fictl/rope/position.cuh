// Sources of the positions of tokens.
#pragma once

#include <stdint.h>

#include <cuda_runtime.h>
#include <fictl/device/indices.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/reduce.cuh>

namespace fictl::rope {

// A position for each token.
struct PositionIds {
  device::Indices ids;

  __device__ bool operator()(int64_t token, int& position) const {
    position = ids[token];
    return true;
  }
};

// Token `starts[i]` is at position `offsets[i]`, those up to `starts[i + 1]` follow it.
struct Segments {
  device::Indices starts;
  device::Indices offsets;
  int64_t count;

  // True if the token belongs to a segment. Called by whole warps, with one token each: every lane
  // compares one start, so that a thousand segments take two steps.
  __device__ bool operator()(int64_t token, int& position) const {
    if (count == 0 || token < starts[0] || token >= starts[count]) return false;
    int64_t first = 0;
    int64_t last = count;
    while (last - first > 1) {
      const int64_t step = device::ceil_div(last - first, device::kWarpSize);
      const int64_t at = first + (threadIdx.x % device::kWarpSize) * step;
      const bool begun = at < last && starts[at] <= token;
      first += (__popc(__ballot_sync(0xffffffff, begun)) - 1) * step;
      last = first + step < last ? first + step : last;
    }
    position = offsets[first] + static_cast<int>(token) - starts[first];
    return true;
  }
};

}  // namespace fictl::rope
