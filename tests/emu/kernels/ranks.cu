// Kernels of several ranks that wait for one another, and kernels that depend on the one before.
#include <cuda_runtime.h>

#include <cstdint>

namespace {

constexpr int kMostRanks = 4;

struct Peers {
  float* data[kMostRanks];
  unsigned* flags[kMostRanks];  // of [phase][block][rank]
};

__device__ void set_flag(unsigned* flag, unsigned value) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}

__device__ void wait_for_flag(const unsigned* flag, unsigned value) {
  unsigned seen;
  do {
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
  } while (seen != value);
}

__device__ unsigned* flag_of(const Peers& peers, int owner, int phase, int from) {
  return peers.flags[owner] + (phase * 8 + blockIdx.x) * kMostRanks + from;
}

// A thread for each peer tells it that this block has come, and waits for its word.
__device__ void barrier(const Peers& peers, int rank, int ranks, int phase) {
  __syncthreads();
  if (threadIdx.x < ranks) {
    set_flag(flag_of(peers, threadIdx.x, phase, rank), 1);
    wait_for_flag(flag_of(peers, rank, phase, threadIdx.x), 1);
  }
  __syncthreads();
}

}  // namespace

// One shot: every rank reads the input of all, in the order of ranks.
__global__ void FlagAllReduce(Peers peers, float* out, int rank, int ranks, int n) {
  barrier(peers, rank, ranks, 0);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float sum = 0;
    for (int from = 0; from < ranks; ++from) sum += peers.data[from][i];
    out[i] = sum;
  }
  barrier(peers, rank, ranks, 1);
}

// Scales its input first, in a kernel of its own.
__global__ void Scale(float* data, float by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= by;
}

__device__ bool is_sentinel(float word) { return __float_as_uint(word) == 0x80000000; }

// Pushes to all ranks, and waits until no word of its own buffer is the sentinel.
__global__ void PushAllReduce(Peers peers, const float* in, float* out, int rank, int ranks,
                              int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 2; i += gridDim.x * blockDim.x) {
    float2 mine = reinterpret_cast<const float2*>(in)[i];
    if (is_sentinel(mine.x)) mine.x = 0.f;
    if (is_sentinel(mine.y)) mine.y = 0.f;
    for (int to = 0; to < ranks; ++to) {
      asm volatile(
          "st.volatile.global.v2.f32 [%0], {%1, %2};" ::"l"(peers.data[to] + rank * n + 2 * i),
          "f"(mine.x), "f"(mine.y)
          : "memory");
    }
    float2 sum = make_float2(0.f, 0.f);
    for (int from = 0; from < ranks; ++from) {
      const float* here = peers.data[rank] + from * n + 2 * i;
      float2 word;
      do {
        asm volatile("ld.volatile.global.v2.f32 {%0, %1}, [%2];"
                     : "=f"(word.x), "=f"(word.y)
                     : "l"(here)
                     : "memory");
      } while (is_sentinel(word.x) || is_sentinel(word.y));
      sum.x += word.x, sum.y += word.y;
    }
    reinterpret_cast<float2*>(out)[i] = sum;
  }
}

extern "C" int flag_all_reduce(int rank, int ranks, int blocks, float scale, float** data,
                               unsigned** flags, float* out, int n) {
  Peers peers;
  for (int i = 0; i < ranks; ++i) peers.data[i] = data[i], peers.flags[i] = flags[i];
  if (scale != 1) Scale<<<(n + 31) / 32, 32>>>(data[rank], scale, n);
  FlagAllReduce<<<blocks, 32>>>(peers, out, rank, ranks, n);
  return cudaGetLastError();
}

extern "C" int push_all_reduce(int rank, int ranks, float** buffers, const float* in, float* out,
                               int n) {
  Peers peers;
  for (int i = 0; i < ranks; ++i) peers.data[i] = buffers[i];
  PushAllReduce<<<2, 32>>>(peers, in, out, rank, ranks, n);
  return cudaGetLastError();
}

// Adds what its peer has, without waiting for it; the peer writes that at the same time.
__global__ void HastySum(Peers peers, float* out, int rank, int ranks, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    peers.data[rank][i] += 1.0f;
    out[i] = peers.data[(rank + 1) % ranks][i];
  }
}

extern "C" int hasty_sum(int rank, int ranks, float** data, float* out, int n) {
  Peers peers;
  for (int i = 0; i < ranks; ++i) peers.data[i] = data[i], peers.flags[i] = nullptr;
  HastySum<<<1, 32>>>(peers, out, rank, ranks, n);
  return cudaGetLastError();
}

// A kernel of this rank, and then what must not stand there.
extern "C" int behind_a_launch(int what, float* data) {
  cudaMemsetAsync(data, 0, 4, nullptr);
  Scale<<<1, 1>>>(data, 2, 1);
  if (what == 0) return cudaDeviceSynchronize();
  if (what == 1) return cudaMemcpy(data + 1, data, 4, cudaMemcpyDeviceToDevice);
  return cudaMemsetAsync(data, 0, 4, nullptr);
}

extern "C" int peer_access(int* found) {
  float word = 3;
  int can = 0, device = -1;
  cudaIpcMemHandle_t handle;
  void* opened = nullptr;
  int failed = cudaDeviceCanAccessPeer(&can, 0, 1);
  failed |= cudaDeviceEnablePeerAccess(1, 0);
  failed |= cudaIpcGetMemHandle(&handle, &word);
  failed |= cudaIpcOpenMemHandle(&opened, handle, cudaIpcMemLazyEnablePeerAccess);
  failed |= cudaGetDevice(&device) | cudaSetDevice(device) | cudaIpcCloseMemHandle(opened);
  found[0] = can, found[1] = opened == &word, found[2] = device;
  return failed;
}

// ---- dependent launches ----

__global__ void First(const float* x, float* y, int n) {
  if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x];
}

enum How { kAllWait, kOneWaits, kReadsEarly, kWritesEarly, kNeverWaits };

// Reads what the first kernel has written, and writes what it has read.
__global__ void Second(float* x, const float* y, const float* weight, float* z, int how, int n) {
  const int i = threadIdx.x;
  const float scale = weight[i];  // No kernel writes it.
  float value = 0;
  if (how == kReadsEarly) value = y[i];  // EARLY READ
  if (how == kWritesEarly) x[i] = 0;     // EARLY WRITE
  if (how == kOneWaits) {
    if (i == 0) asm volatile("griddepcontrol.wait;" ::: "memory");
    __syncthreads();
  } else if (how != kNeverWaits) {
    asm volatile("griddepcontrol.wait;" ::: "memory");
  }
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  if (how != kReadsEarly && how != kNeverWaits) value = y[i];
  if (how != kWritesEarly && how != kNeverWaits) x[i] = 1;
  z[i] = value * scale;
}

// Waits, but for a kernel that has not waited itself: the first one may be running still.
__global__ void Third(const float* y, float* z, int early) {
  if (early) z[threadIdx.x] = y[threadIdx.x];  // EARLY CHAIN
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (!early) z[threadIdx.x] = y[threadIdx.x];
}

template <class... Args>
int dependent(void (*kernel)(Args...), int n, Args... args) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = n;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, args...);
}

extern "C" int first(const float* x, float* y, int n) {
  First<<<1, 64>>>(x, y, n);
  return cudaGetLastError();
}
extern "C" int second(float* x, const float* y, const float* weight, float* z, int how, int n) {
  return dependent(Second, n, x, y, weight, z, how, n);
}
extern "C" int third(const float* y, float* z, int early, int n) {
  return dependent(Third, n, y, z, early);
}
extern "C" int wait_for_all() { return cudaDeviceSynchronize(); }
