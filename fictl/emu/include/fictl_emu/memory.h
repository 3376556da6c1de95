// Loads and stores with cache hints, address spaces, and asynchronous copies into shared memory.
//
// Loads and stores are ordinary code, inlined into the kernel, so that they are checked where the
// kernel makes them.
#pragma once

#include <fictl_emu/abi.h>

#include <type_traits>

// ---- cache hints ----

namespace fictl_emu {

// "Don't cache and fetch again": what a loop that waits for another thread uses.
template <class T>
__forceinline__ T fetch_again(const T* address, const char* file, int line) {
  fictl_emu_yield(0, file, line);
  if constexpr (std::is_arithmetic<T>::value) {
    return *static_cast<const volatile T*>(address);
  } else {
    return *address;
  }
}

}  // namespace fictl_emu

#define FICTL_EMU_CACHED(T)                                              \
  __forceinline__ T __ldg(const T* address) { return *address; }         \
  __forceinline__ T __ldca(const T* address) { return *address; }        \
  __forceinline__ T __ldcg(const T* address) { return *address; }        \
  __forceinline__ T __ldcs(const T* address) { return *address; }        \
  __forceinline__ T __ldlu(const T* address) { return *address; }        \
  __forceinline__ T __ldcv(const T* address, FICTL_EMU_HERE) {           \
    return ::fictl_emu::fetch_again(address, file, line);                \
  }                                                                      \
  __forceinline__ void __stwb(T* address, T value) { *address = value; } \
  __forceinline__ void __stcg(T* address, T value) { *address = value; } \
  __forceinline__ void __stcs(T* address, T value) { *address = value; } \
  __forceinline__ void __stwt(T* address, T value) { *address = value; }

FICTL_EMU_CACHED(char)
FICTL_EMU_CACHED(signed char)
FICTL_EMU_CACHED(unsigned char)
FICTL_EMU_CACHED(short)
FICTL_EMU_CACHED(unsigned short)
FICTL_EMU_CACHED(int)
FICTL_EMU_CACHED(unsigned)
FICTL_EMU_CACHED(long)
FICTL_EMU_CACHED(unsigned long)
FICTL_EMU_CACHED(long long)
FICTL_EMU_CACHED(unsigned long long)
FICTL_EMU_CACHED(float)
FICTL_EMU_CACHED(double)
FICTL_EMU_CACHED(char2)
FICTL_EMU_CACHED(char4)
FICTL_EMU_CACHED(uchar2)
FICTL_EMU_CACHED(uchar4)
FICTL_EMU_CACHED(short2)
FICTL_EMU_CACHED(short4)
FICTL_EMU_CACHED(ushort2)
FICTL_EMU_CACHED(ushort4)
FICTL_EMU_CACHED(int2)
FICTL_EMU_CACHED(int4)
FICTL_EMU_CACHED(uint2)
FICTL_EMU_CACHED(uint4)
FICTL_EMU_CACHED(longlong2)
FICTL_EMU_CACHED(ulonglong2)
FICTL_EMU_CACHED(float2)
FICTL_EMU_CACHED(float4)
FICTL_EMU_CACHED(double2)
// half.h has those of the 16-bit types.

// ---- address spaces ----

inline size_t __cvta_generic_to_shared(const void* pointer, FICTL_EMU_HERE) {
  return fictl_emu_shared_address(pointer, file, line);
}
inline void* __cvta_shared_to_generic(size_t address) {
  return fictl_emu_shared_pointer(static_cast<uint32_t>(address));
}
extern "C" inline uint32_t __nvvm_get_smem_pointer(void* pointer) {
  return fictl_emu_shared_address(pointer, "", 0);
}

// In the other spaces an address is the pointer.
#define FICTL_EMU_SPACE(space)                                                                   \
  inline size_t __cvta_generic_to_##space(const void* p) { return reinterpret_cast<size_t>(p); } \
  inline void* __cvta_##space##_to_generic(size_t address) {                                     \
    return reinterpret_cast<void*>(address);                                                     \
  }
FICTL_EMU_SPACE(global)
FICTL_EMU_SPACE(local)
FICTL_EMU_SPACE(constant)
FICTL_EMU_SPACE(grid_constant)
#undef FICTL_EMU_SPACE

inline unsigned __isShared(const void* pointer) {
  return fictl_emu_space(pointer) == FICTL_EMU_SHARED;
}
inline unsigned __isClusterShared(const void* pointer) {
  const int space = fictl_emu_space(pointer);
  return space == FICTL_EMU_SHARED || space == FICTL_EMU_PEER;
}
inline unsigned __isCtaShared(const void* pointer) { return __isShared(pointer); }
inline unsigned __isLocal(const void* pointer) {
  return fictl_emu_space(pointer) == FICTL_EMU_LOCAL;
}
inline unsigned __isGlobal(const void* pointer) {
  return fictl_emu_space(pointer) == FICTL_EMU_GLOBAL;
}

[[noreturn]] inline unsigned __isConstant(const void*, FICTL_EMU_HERE) {
  fictl_emu_missing("__isConstant()", file, line);
}
[[noreturn]] inline unsigned __isGridConstant(const void*, FICTL_EMU_HERE) {
  fictl_emu_missing("__isGridConstant()", file, line);
}

inline void* __nv_associate_access_property(const void* pointer, unsigned long long) {
  return const_cast<void*>(pointer);
}

// ---- asynchronous copies ----

inline void __nv_memcpy_async_shared_global_4(void* to, const void* from, unsigned bytes = 4,
                                              FICTL_EMU_HERE) {
  fictl_emu_copy_async(to, from, 4, static_cast<int>(bytes));
}
inline void __nv_memcpy_async_shared_global_8(void* to, const void* from, unsigned bytes = 8,
                                              FICTL_EMU_HERE) {
  fictl_emu_copy_async(to, from, 8, static_cast<int>(bytes));
}
inline void __nv_memcpy_async_shared_global_16(void* to, const void* from, unsigned bytes = 16,
                                               FICTL_EMU_HERE) {
  fictl_emu_copy_async(to, from, 16, static_cast<int>(bytes));
}
