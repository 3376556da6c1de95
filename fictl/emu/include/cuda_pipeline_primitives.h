// cp.async by its functions, in place of the toolkit's header, which a host compiler sees copy at
// once: here a forgotten wait shows.
#pragma once

#include <fictl_emu/abi.h>

inline void __pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zeros = 0,
                                    FICTL_EMU_HERE) {
  if ((bytes != 4 && bytes != 8 && bytes != 16) || zeros > bytes) {
    char what[96];
    __builtin_snprintf(what, sizeof what,
                       "__pipeline_memcpy_async() of %zu bytes, %zu of them zero", bytes, zeros);
    fictl_emu_stop("bad-argument", what, file, line);
  }
  fictl_emu_copy_async(to, from, static_cast<int>(bytes), static_cast<int>(bytes - zeros));
}
inline void __pipeline_commit() { fictl_emu_copy_commit(); }
inline void __pipeline_wait_prior(size_t pending) {
  fictl_emu_copy_wait(static_cast<int>(pending));
}
