// Devices and what they see of one another. There is one device with the host's memory; where the
// launches of several ranks are made, each has a number, and all memory is everyone's.
#include <fictl_emu/api_names.h>

#include <cuda_runtime_api.h>

#include <cstring>

#include "api.h"
#include "ranks.h"

using namespace fictl_emu;

namespace {

bool is_a_device(int device) { return device == 0 || (ranks_are_open() && device > 0); }

// A handle holds the address.
template <class Handle, class Address>
void put(Handle* handle, Address address) {
  static_assert(sizeof address <= sizeof *handle, "a handle has room for an address");
  *handle = {};
  memcpy(handle, &address, sizeof address);
}
template <class Handle, class Address>
void get(const Handle& handle, Address* address) {
  memcpy(address, &handle, sizeof *address);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaGetDeviceCount(int* count) { return *count = 1, cudaSuccess; }
cudaError_t cudaGetDevice(int* device) { return *device = open_rank(), cudaSuccess; }
// The rank stays what the caller of the ranks has made it.
cudaError_t cudaSetDevice(int device) {
  return is_a_device(device) ? cudaSuccess : set_last_error(cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) { return *can = 1, cudaSuccess; }
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return cudaSuccess; }
cudaError_t cudaDeviceDisablePeerAccess(int) { return cudaSuccess; }

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* memory) {
  return put(handle, memory), cudaSuccess;
}
cudaError_t cudaIpcOpenMemHandle(void** memory, cudaIpcMemHandle_t handle, unsigned) {
  return get(handle, memory), cudaSuccess;
}
cudaError_t cudaIpcCloseMemHandle(void*) { return cudaSuccess; }
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  return put(handle, event), cudaSuccess;
}
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
  return get(handle, event), cudaSuccess;
}
}
#pragma GCC visibility pop
