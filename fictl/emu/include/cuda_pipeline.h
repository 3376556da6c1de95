// nvcuda::experimental::pipeline, in place of the toolkit's header.
#pragma once

#include <cuda_pipeline_primitives.h>

namespace nvcuda {
namespace experimental {

class pipeline {
 public:
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;
  pipeline() = default;

  size_t commit() {
    __pipeline_commit();
    return stage_++;
  }
  void commit_and_wait() {
    commit();
    fictl_emu_copy_wait(0);
  }
  // Until the copies of `stage` are there.
  void wait(size_t stage) { fictl_emu_copy_wait(static_cast<int>(stage_ - stage - 1)); }
  template <unsigned Pending>
  void wait_prior() {
    fictl_emu_copy_wait(Pending);
  }

 private:
  size_t stage_ = 0;
};

template <class T>
void memcpy_async(T& to, const T& from, pipeline&, FICTL_EMU_HERE) {
  char* const target = reinterpret_cast<char*>(&to);
  const char* const source = reinterpret_cast<const char*>(&from);
  constexpr int width = alignof(T) % 16 == 0 ? 16 : alignof(T) % 8 == 0 ? 8 : 4;
  if constexpr (alignof(T) % 4 == 0) {
    for (size_t at = 0; at < sizeof(T); at += width) {
      fictl_emu_copy_async(target + at, source + at, width, width);
    }
  } else {
    to = from;
  }
}

}  // namespace experimental
}  // namespace nvcuda
