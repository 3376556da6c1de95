// Arithmetic types and functions of one number: the same values on the host and on a GPU. Exits
// with 0 if all are right, 1 if not, 77 if the host's are and there is no GPU.
#include <stdio.h>

#include <fictl/device/functions.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/wide.cuh>

namespace device = fictl::device;

struct Check {
  double got;
  double wanted;
  double tolerance;
};

constexpr int kMost = 64;

// Everything that is asked, written down one after the other.
struct Checks {
  Check all[kMost];
  int count;

  __host__ __device__ void add(double got, double wanted, double tolerance = 0) {
    all[count++] = {got, wanted, tolerance};
  }
};

__host__ __device__ void ask(Checks& checks) {
  static_assert(sizeof(device::Wide<__half>) == 4 && sizeof(device::Wide<int8_t>) == 4);
  static_assert(sizeof(device::Wide<double>) == 8 && sizeof(device::Wide<int32_t>) == 8);

  // Halves go to the even neighbour; what is out of range stays at its end; NaN is the least.
  const float nan = nanf("");
  checks.add(device::narrow<int8_t>(2.5f), 2);
  checks.add(device::narrow<int8_t>(3.5f), 4);
  checks.add(device::narrow<int8_t>(-2.5f), -2);
  checks.add(device::narrow<int8_t>(1000.0f), 127);
  checks.add(device::narrow<int8_t>(-1000.0f), -128);
  checks.add(device::narrow<int8_t>(nan), -128);
  checks.add(device::narrow<uint8_t>(-3.0f), 0);
  checks.add(device::narrow<uint8_t>(255.4f), 255);
  checks.add(device::narrow<int32_t>(2147483646.0), 2147483646.0);
  checks.add(device::narrow<int32_t>(1e12), 2147483647.0);
  checks.add(device::narrow<int32_t>(-1e12), -2147483648.0);
  checks.add(device::narrow<int64_t>(1e30) > 9223372036854770000, 1);
  checks.add(device::narrow<int64_t>(-1e30) == INT64_MIN, 1);
  checks.add(device::narrow<int64_t>(4503599627370497.0), 4503599627370497.0);
  checks.add(device::narrow<bool>(0.0f), 0);
  checks.add(device::narrow<bool>(-0.25f), 1);
  checks.add(device::widen(device::narrow<__half>(0.1f)), 0.0999755859375);
  checks.add(device::widen(device::narrow<__nv_bfloat16>(0.1f)), 0.10009765625);
  checks.add(device::narrow<double>(0.1), 0.1);
  checks.add(device::widen(int64_t{1} << 52), 4503599627370496.0);

  checks.add(device::square(-3.0f), 9);
  checks.add(device::fast_exp(-15.5f), 1.8553913626159784e-07, 1e-12);
  checks.add(device::fast_exp(-15.5), 1.8553913626159784e-07, 1e-21);
  checks.add(device::fast_exp(-1000.0f), 0);
  checks.add(device::fast_divide(1.0f, 3.0f), 0.33333333333333331, 1e-7);
  checks.add(device::sigmoid(0.5f), 0.62245933120185456, 1e-6);
  checks.add(device::sigmoid(0.5), 0.62245933120185456, 1e-15);
  checks.add(device::sigmoid(-200.0f), 0);
  checks.add(device::sigmoid(200.0f), 1);
  checks.add(device::silu(0.5), 0.31122966560092728, 1e-15);
  checks.add(device::silu(-200.0f), 0, 1e-30);
  checks.add(device::relu(-1.0f), 0);
  checks.add(device::relu(2.0f), 2);
  checks.add(isnan(device::relu(nan)), 1);
  checks.add(device::gelu(0.5), 0.34573123063700656, 1e-15);
  checks.add(device::gelu(0.5f), 0.34573123063700656, 1e-7);
  checks.add(device::softplus(0.0), 0.69314718055994531, 1e-15);
  checks.add(device::softplus(1000.0f), 1000);
  checks.add(device::softplus(-1000.0f), 0);
}

__global__ void ask_on_gpu(Checks* checks) { ask(*checks); }

bool right(const Checks& checks, const char* where) {
  bool all = checks.count > 30;
  for (int i = 0; i < checks.count; ++i) {
    const Check& check = checks.all[i];
    const bool near = fabs(check.got - check.wanted) <= check.tolerance;
    if (!near) printf("%s, %d: %.17g, not %.17g\n", where, i, check.got, check.wanted);
    all &= near;
  }
  return all;
}

int main() {
  static Checks here;
  ask(here);
  if (!right(here, "host")) return 1;

  Checks* there;
  if (cudaMallocManaged(&there, sizeof(Checks)) != cudaSuccess) return 77;
  there->count = 0;
  device::LaunchConfig config;
  config.grid = config.block = dim3(1);
  if (device::launch<ask_on_gpu>(config, there) != cudaSuccess) return 1;
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  return right(*there, "GPU") ? 0 : 1;
}
