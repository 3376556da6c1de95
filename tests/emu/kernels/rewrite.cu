// Launches and shared variables in every form, and lambdas that use them.
#include <cuda_runtime.h>

#include <cstdint>

extern __shared__ float dynamic_floats[];

namespace outer {
namespace {
__shared__ alignas(32) int counts[4];
}

struct Reader {
  int which;
  __device__ explicit Reader(int which) : which(which) {}
  __device__ int read() const { return counts[which] + static_cast<int>(dynamic_floats[which]); }
};
}  // namespace outer

// The name of a shared variable means something else here.
__device__ int hidden(int counts) { return counts + 1; }
static int on_the_host(int n) {
  const int counts = n;
  return counts;
}

template <class T, int kCount>
__global__ void Declared(T* out, int n) {
  __shared__ T values[kCount], extra;
  static __shared__ struct {
    int a;
    float b[2];
  } packed;
  __shared__ __align__(64) unsigned char bytes[8];
  using namespace outer;
  if (threadIdx.x == 0) {
    extra = 3, packed.a = 4, packed.b[1] = 0.5f, bytes[7] = 6;
    for (int i = 0; i < 4; ++i) counts[i] = 10 * i, dynamic_floats[i] = 100.f * i;
  }
  values[threadIdx.x] = static_cast<T>(threadIdx.x);
  __syncthreads();
  const auto by_value = [=](int i) { return values[i] + extra + n; };
  const auto by_nothing = [](int i) { return values[i]; };
  const auto nested = [n](int i) {
    const auto inner = [=] { return packed.b[1] * bytes[7] + n; };
    return inner() + packed.a + i;
  };
  const bool aligned =
      reinterpret_cast<uintptr_t>(bytes) % 64 == 0 && reinterpret_cast<uintptr_t>(counts) % 32 == 0;
  out[threadIdx.x] = by_value(threadIdx.x) + by_nothing(1) + nested(2) +
                     static_cast<T>(Reader(3).read() + hidden(1)) +
                     static_cast<T>(aligned && sizeof(values) == sizeof(T) * kCount ? 0 : 1e6);
}

// Dynamic shared memory as bytes and as rows of them, used as another type each time.
template <class T>
__global__ void Dynamic(T* out) {
  extern __shared__ __align__(16) unsigned char raw[];
  extern __shared__ unsigned char rows[][4 * 4];
  T* flat = reinterpret_cast<T*>(raw);
  flat[threadIdx.x] = static_cast<T>(threadIdx.x);
  __syncthreads();
  const int per_row = sizeof(rows[0]) / sizeof(T);
  const T* row = reinterpret_cast<const T*>(rows[threadIdx.x / per_row]);
  out[threadIdx.x] = row[per_row - 1 - threadIdx.x % per_row];
}

struct Pair {
  int a, b;
};
__global__ void Plain(int* out, Pair pair) { out[threadIdx.x] += pair.a * 100 + pair.b; }
__global__ void Plain(float* out) { out[threadIdx.x] += 0.5f; }

template <class T>
__global__ void Deduced(T* out, T value) {
  out[threadIdx.x] += value;
}

namespace deep {
template <int kStep, class T>
__global__ void Add(T* out) {
  out[threadIdx.x] += kStep;
}
}  // namespace deep

#define LAUNCH(kernel, ...) kernel<<<1, 8>>>(__VA_ARGS__)

extern "C" int declared(float* out) {
  Declared<float, 32><<<1, 32, 4 * sizeof(float)>>>(out, on_the_host(7));
  return cudaDeviceSynchronize();
}

extern "C" int dynamic(float* floats, short* shorts) {
  Dynamic<<<dim3(1), dim3(8), 8 * sizeof(float)>>>(floats);
  Dynamic<<<1, 8, 8 * sizeof(short), nullptr>>>(shorts);
  return cudaDeviceSynchronize();
}

extern "C" int launches(int* ints, float* floats) {
  Plain<<<1, 8>>>(ints, {1, 2});                        // 102
  LAUNCH(Plain, floats);                                // 0.5
  LAUNCH((Deduced<int>), ints, 1000);                   // 1102
  Deduced<<<1, 8>>>(floats, 2.f);                       // 2.5
  deep::Add<(3 > 2 ? 5 : 6), float><<<1, 8>>>(floats);  // 7.5
  const auto pointer = &deep::Add<7, int>;
  pointer<<<1, 8>>>(ints);  // 1109
  (ints != nullptr ? pointer : nullptr)<<<1,
                                          8>>>(ints);  // 1116
  int value = 4;
  void* arguments[] = {&ints, &value};
  cudaLaunchKernel((void*)Deduced<int>, dim3(1), dim3(8), arguments, 0, nullptr);  // 1120
  cudaLaunchKernel(reinterpret_cast<const void*>(&Deduced<int>), 1, 8, arguments, 0, nullptr);
  cudaLaunchCooperativeKernel((const void*)Deduced<int>, 1, 8, arguments);  // 1128
  return cudaDeviceSynchronize();
}
