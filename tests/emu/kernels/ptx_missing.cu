// What the emulated device lacks compiles, and stops the thread that comes to it.
#include <cuda_runtime.h>

#include <cstdint>

__global__ void Missing(int* out, int at) {
  out[threadIdx.x] = 1;
  if (static_cast<int>(threadIdx.x) == at) {
    asm volatile("tensormap.replace.tile.rank.global.b1024.b32 [%0], 1;" ::"l"(out) : "memory");
  }
}

__global__ void Unknown(int* out, int at) {
  uint32_t id = 7;
  if (static_cast<int>(threadIdx.x) == at) {
    asm volatile("mov.u32 %0, %%envreg3;" : "=r"(id));
  }
  out[threadIdx.x] = static_cast<int>(id);
}

__global__ void Trap(int* out, int at) {
  out[threadIdx.x] = 2;
  if (static_cast<int>(threadIdx.x) == at) asm volatile("trap;");
}

extern "C" int run(int which, int* out, int at) {
  if (which == 0) Missing<<<1, 4>>>(out, at);
  if (which == 1) Unknown<<<1, 4>>>(out, at);
  if (which == 2) Trap<<<1, 4>>>(out, at);
  cudaDeviceSynchronize();
  return cudaGetLastError();
}
