// The arguments of a batch: its rows, how much of each to keep, and the output of tokens.
#pragma once

#include <limits.h>
#include <math.h>

#include <fictl/device/indices.cuh>
#include <fictl/sampling/tiles.cuh>

namespace fictl::sampling {

// The limits of each row, or the numbers for all rows if there is no array.
struct Filter {
  const float* p = nullptr;
  device::Indices k;
  float p_value = 1.0f;
  int k_value = 0;
  int p_step = 1;

  __device__ float p_of(int64_t row) const { return p == nullptr ? p_value : p[row * p_step]; }

  // Why 0 and less are no limit: engines write so that a request has none.
  __device__ int k_of(int64_t row) const {
    const int limit = k.data == nullptr ? k_value : k[row];
    return limit > 0 ? limit : INT_MAX;
  }

  // A share of a row's sum. 1 sets no limit; below 0, or NaN, is 0: the largest value alone.
  __device__ static float mass(float p, float of = 1.0f) {
    return p >= 1.0f ? INFINITY : of * (p > 0.0f ? p : 0.0f);
  }
};

template <typename T>
struct Rows {
  const T* data;
  int64_t pitch;
  int count;
  int size;
  bool aligned;  // to vectors

  // One without elements where there is none of the number.
  __device__ TiledRow<T> operator[](int64_t row) const {
    const bool exists = row >= 0 && row < count;
    return {data + (exists ? row * pitch : 0), exists ? size : 0, aligned};
  }
};

// The output: a token for each row of the batch.
struct Drawn {
  void* tokens;
  bool* valid;  // may be null
  bool wide;    // int64, else int32

  __device__ void put(int64_t i, int token) const {
    const int known = token < 0 ? 0 : token;
    if (wide) {
      static_cast<int64_t*>(tokens)[i] = known;
    } else {
      static_cast<int32_t*>(tokens)[i] = known;
    }
    if (valid != nullptr) valid[i] = token >= 0;
  }
};

}  // namespace fictl::sampling
