// Kernels that record, each in another way, and what launches them.
#include <fictl/device/profiler.cuh>

#include <cuda_runtime.h>

#define EXPORTED extern "C" __attribute__((visibility("default")))

// Why no namespace without a name: its functions would be called after the file.

__device__ int halved(int x, fictl::device::Profiler& fictl_profiler) {
  FICTL_SCOPE("halved");
  return x / 2;
}

__global__ void Works(int* out, int steps) {
  FICTL_KERNEL("works");
  FICTL_EVENT("started");
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  FICTL_BEGIN("load");
  int x = out[thread];
  FICTL_END("load", x);
  const auto step = [&](int i) {
    FICTL_SCOPE("step");
    x += i;
  };
  for (int i = 0; i < steps; ++i) step(i);
  if (blockIdx.x == 1) return;
  out[thread] = halved(x, fictl_profiler);
}

__global__ void Grouped(int* out) {
  FICTL_KERNEL("grouped", 2);
  FICTL_SCOPE("write");
  out[threadIdx.x + blockDim.x * threadIdx.y] = 1;
}

__global__ void Unbalanced() {
  FICTL_KERNEL("unbalanced");
  FICTL_END("never begun");
  FICTL_BEGIN("outer");
  FICTL_BEGIN("outer");
  FICTL_END("outer");
}

__device__ unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// Each block lasts as long as its number says.
__global__ void Spins(int ns) {
  FICTL_KERNEL("spins");
  FICTL_SCOPE("spin");
  const unsigned long long begin = nanoseconds();
  while (nanoseconds() - begin < static_cast<unsigned long long>(ns) * (1 + blockIdx.x % 2)) {
  }
}

__global__ void Silent(int* out) { *out = 1; }

EXPORTED void works(int* out, int blocks, int threads, int steps) {
  Works<<<blocks, threads>>>(out, steps);
}

EXPORTED void grouped(int* out) { Grouped<<<dim3(1, 2, 3), dim3(40, 4)>>>(out); }

EXPORTED void unbalanced() { Unbalanced<<<1, 1>>>(); }

EXPORTED void spins(int blocks, int ns) { Spins<<<blocks, 32>>>(ns); }

EXPORTED void silent(int* out) { Silent<<<1, 1>>>(out); }
