// Named parts of a kernel's shared memory.
//
// An index beyond one part of a hand-divided array lands in the next, which is legal memory. On the
// GPU these functions are the arithmetic that was there without them. Under the emulated device's
// check mode an access by way of one part that leaves it is reported, with the names of both.
#pragma once

#include <cuda_runtime.h>

namespace fictl::device {

// Declares the part of `bytes` bytes at offset `start` of `shared`. Parts may overlap if one is
// used after another.
//   float* sums = reinterpret_cast<float*>(shared + shared_part(shared, "sums", kAt, kBytes));
template <typename N>
__device__ inline N shared_part([[maybe_unused]] const void* shared,
                                [[maybe_unused]] const char* name, N start,
                                [[maybe_unused]] N bytes) {
#ifdef FICTL_EMU
  const auto first = static_cast<const char*>(shared);
  return start + static_cast<N>(fictl_emu_shared_part(first, start, bytes, name) - first);
#else
  return start;
#endif
}

// Parts one after another, each aligned to its elements:
//   SharedParts parts(shared);
//   float* sums = parts.take<float>("sums", rows);
//   int* counts = parts.take<int>("counts", rows);
class SharedParts {
 public:
  __device__ explicit SharedParts(void* shared) : shared_(static_cast<char*>(shared)) {}

  template <typename T>
  __device__ T* take(const char* name, int count) {
    constexpr int kAlign = alignof(T);
    const int start = (end_ + kAlign - 1) / kAlign * kAlign;
    const int bytes = count * static_cast<int>(sizeof(T));
    end_ = start + bytes;
    return reinterpret_cast<T*>(shared_ + shared_part(shared_, name, start, bytes));
  }

 private:
  char* shared_;
  int end_ = 0;
};

}  // namespace fictl::device
