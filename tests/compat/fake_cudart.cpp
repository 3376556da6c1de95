// A CUDA runtime whose memory is the process's. An IPC handle holds an address; FAKE_ERROR is what
// every function returns then.
#include <cstdlib>
#include <cstring>

struct Handle {
  char bytes[64];
};

static int status() {
  const char* error = getenv("FAKE_ERROR");
  return error ? atoi(error) : 0;
}

extern "C" {
const char* cudaGetErrorString(int error) { return error == 2 ? "out of memory" : "unknown"; }
int cudaSetDevice(int) { return status(); }
int cudaDeviceSynchronize() { return status(); }
int cudaDeviceReset() { return status(); }
int cudaMalloc(void** memory, size_t size) { return *memory = malloc(size), status(); }
int cudaFree(void* memory) { return free(memory), status(); }
int cudaMemset(void* to, int value, size_t count) { return memset(to, value, count), status(); }
int cudaMemcpy(void* to, const void* from, size_t count, int kind) {
  if (kind != 4) return 21;
  return memcpy(to, from, count), status();
}
int cudaIpcGetMemHandle(Handle* handle, void* memory) {
  return memcpy(handle->bytes, &memory, sizeof memory), status();
}
int cudaIpcOpenMemHandle(void** memory, Handle handle, unsigned flags) {
  if (flags != 1) return 1;
  return memcpy(memory, handle.bytes, sizeof *memory), status();
}
#ifndef OLD_RUNTIME
int cudaIpcCloseMemHandle(void*) { return status(); }
#endif
}
