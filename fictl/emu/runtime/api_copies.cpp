// Copies, fills and waits of the host. They are done when the call returns; where launches of
// several ranks are kept, one behind a launch would come before its kernel.
#include <fictl_emu/api_names.h>

#include <cuda_runtime_api.h>

#include <cstring>

#include "api.h"
#include "checker.h"
#include "ranks.h"

namespace fictl_emu {

namespace {

void copy_rows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
               size_t height) {
  for (size_t row = 0; row < height; ++row) {
    memmove(static_cast<char*>(to) + row * to_pitch,
            static_cast<const char*>(from) + row * from_pitch, width);
  }
}

}  // namespace

}  // namespace fictl_emu

using namespace fictl_emu;

#define BEHIND_KERNELS(name)                            \
  if (!may_go_on(#name, __builtin_return_address(0))) { \
    return set_last_error(cudaErrorNotSupported);       \
  }                                                     \
  static_cast<void>(0)

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  BEHIND_KERNELS(cudaMemcpy);
  return memmove(to, from, bytes), cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind,
                            cudaStream_t) {
  BEHIND_KERNELS(cudaMemcpyAsync);
  return memmove(to, from, bytes), cudaSuccess;
}
cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, size_t bytes) {
  BEHIND_KERNELS(cudaMemcpyPeer);
  return memmove(to, from, bytes), cudaSuccess;
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes, cudaStream_t) {
  BEHIND_KERNELS(cudaMemcpyPeerAsync);
  return memmove(to, from, bytes), cudaSuccess;
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind) {
  BEHIND_KERNELS(cudaMemcpy2D);
  return copy_rows(to, to_pitch, from, from_pitch, width, height), cudaSuccess;
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind, cudaStream_t) {
  BEHIND_KERNELS(cudaMemcpy2DAsync);
  return copy_rows(to, to_pitch, from, from_pitch, width, height), cudaSuccess;
}
cudaError_t cudaMemset(void* memory, int value, size_t bytes) {
  BEHIND_KERNELS(cudaMemset);
  return memset(memory, value, bytes), cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t) {
  BEHIND_KERNELS(cudaMemsetAsync);
  return memset(memory, value, bytes), cudaSuccess;
}
cudaError_t cudaMemset2D(void* memory, size_t pitch, int value, size_t width, size_t height) {
  BEHIND_KERNELS(cudaMemset2D);
  for (size_t row = 0; row < height; ++row) {
    memset(static_cast<char*>(memory) + row * pitch, value, width);
  }
  return cudaSuccess;
}
cudaError_t cudaMemset2DAsync(void* memory, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t) {
  return cudaMemset2D(memory, pitch, value, width, height);
}

// A variable of the device is one of the host's: its symbol is its address.
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset,
                               cudaMemcpyKind) {
  BEHIND_KERNELS(cudaMemcpyToSymbol);
  memcpy(static_cast<char*>(const_cast<void*>(symbol)) + offset, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes,
                                    size_t offset, cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset,
                                 cudaMemcpyKind) {
  BEHIND_KERNELS(cudaMemcpyFromSymbol);
  return memcpy(to, static_cast<const char*>(symbol) + offset, bytes), cudaSuccess;
}
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind);
}
cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  return *address = const_cast<void*>(symbol), cudaSuccess;
}

// ---- waits ----

cudaError_t cudaDeviceSynchronize() {
  BEHIND_KERNELS(cudaDeviceSynchronize);
  return check::host_waited(), cudaPeekAtLastError();
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  BEHIND_KERNELS(cudaStreamSynchronize);
  return check::host_waited(), cudaPeekAtLastError();
}
cudaError_t cudaEventSynchronize(cudaEvent_t) {
  BEHIND_KERNELS(cudaEventSynchronize);
  return check::host_waited(), cudaSuccess;
}
}
#pragma GCC visibility pop
