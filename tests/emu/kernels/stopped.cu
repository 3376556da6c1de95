// Kernels that cannot go on: what the runtime itself notices, in every mode.
#include <cuda_runtime.h>
#include <stdint.h>

#include <cassert>

__global__ void Null(int* out) { out[threadIdx.x] = 1; }

__global__ void Wild(int* out) { *reinterpret_cast<int*>(uintptr_t{1} << 45) = 1; }

__device__ int descend(int depth, volatile const int* in) {
  volatile char frame[1000];
  frame[depth % 1000] = 1;
  return depth > 0 ? descend(depth - 1, in) + frame[3] : *in;
}
__global__ void Overflow(int* out) { *out = descend(100000, out); }

__global__ void Divide(int* out) { out[0] = 7 / out[1]; }

__global__ void Assert(int* out) { assert(threadIdx.x < 3 && "only three"); }

__global__ void Spin(volatile int* out) {
  while (*out == 0) continue;
}

// Thread 0 waits for the last thread, which has to run for it.
__global__ void Flag(volatile int* out) {
  if (threadIdx.x == 0) {
    while (out[1] == 0) continue;
    out[0] = 1;
  } else if (threadIdx.x == blockDim.x - 1) {
    out[1] = 1;
  }
}

extern "C" int run(int which, int* out) {
  switch (which) {
    case 0:
      Null<<<1, 32>>>(nullptr);
      break;
    case 1:
      Wild<<<1, 32>>>(out);
      break;
    case 2:
      Overflow<<<1, 1>>>(out);
      break;
    case 3:
      Divide<<<1, 1>>>(out);
      break;
    case 4:
      Assert<<<1, 32>>>(out);
      break;
    case 5:
      Spin<<<1, 32>>>(out);
      break;
    case 6:
      Flag<<<1, 64>>>(out);
      break;
    case 7:
      Flag<<<dim3(1, 1, 70000), 32>>>(out);
      break;
    case 8:
      Flag<<<1, 32, 240 << 10>>>(out);
      break;
  }
  return cudaGetLastError();
}
