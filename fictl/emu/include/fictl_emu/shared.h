// The replacement of `__shared__ T x`: a reference into the running block's shared memory.
#pragma once

namespace fictl_emu {

template <typename T>
FICTL_EMU_UNCHECKED inline T& shared(const void* key, const char* name) {
  return *reinterpret_cast<T*>(fictl_emu_shared(key, sizeof(T), alignof(T), name));
}

}  // namespace fictl_emu
