// A plain CUDA program that uses fictl's scale: no Python, no framework.
// Exits with 0 if every result is right, 1 if not, 77 where there is no GPU.
#include <stdio.h>

#include <fictl/elementwise/scale.cuh>
#include <vector>

using fictl::device::Element;
using fictl::elementwise::Scale;
using fictl::elementwise::ScaleShape;

constexpr float kFactor = 1.5f;
constexpr float kUntouched = -7.0f;

// Small integers: exact in every dtype, also after the factor.
static float value_at(int64_t i) { return static_cast<float>(i % 64 * 2 - 32); }

// Scales `shape` from `input_start` to `output_start`, in place if `in_place`, and compares every
// element of the output's memory, also those that must stay untouched.
template <typename T>
static bool check(const char* name, ScaleShape shape, int64_t input_start, int64_t output_start,
                  bool in_place, bool pdl) {
  const int64_t input_size = input_start + shape.rows * shape.input_pitch + shape.cols;
  const int64_t output_size = output_start + shape.rows * shape.out_pitch + shape.cols;
  std::vector<T> input(input_size), output(output_size), expected(output_size);
  for (int64_t i = 0; i < input_size; ++i) input[i] = Element<T>::from_float(value_at(i));
  for (int64_t i = 0; i < output_size; ++i) {
    expected[i] = Element<T>::from_float(in_place ? value_at(i) : kUntouched);
  }
  output = expected;
  for (int64_t row = 0; row < shape.rows; ++row) {
    for (int64_t col = 0; col < shape.cols; ++col) {
      const float from = value_at(input_start + row * shape.input_pitch + col);
      expected[output_start + row * shape.out_pitch + col] = Element<T>::from_float(from * kFactor);
    }
  }

  T* device_input = nullptr;
  T* device_output = nullptr;
  cudaMalloc(&device_input, input_size * sizeof(T));
  cudaMalloc(&device_output, output_size * sizeof(T));
  cudaMemcpy(device_input, input.data(), input_size * sizeof(T), cudaMemcpyHostToDevice);
  cudaMemcpy(device_output, output.data(), output_size * sizeof(T), cudaMemcpyHostToDevice);
  const T* source = in_place ? device_output : device_input;
  cudaError_t status = Scale(device_output + output_start, source + input_start, kFactor, shape,
                             cudaStream_t{}, pdl);
  if (status == cudaSuccess) status = cudaDeviceSynchronize();
  cudaMemcpy(output.data(), device_output, output_size * sizeof(T), cudaMemcpyDeviceToHost);
  cudaFree(device_input);
  cudaFree(device_output);

  int64_t wrong = 0;
  for (int64_t i = 0; i < output_size; ++i) {
    wrong += Element<T>::to_float(output[i]) != Element<T>::to_float(expected[i]);
  }
  const bool ok = status == cudaSuccess && wrong == 0;
  printf("%s %s %s: %lld wrong, %s\n", ok ? "ok  " : "FAIL", Element<T>::kName, name,
         static_cast<long long>(wrong), cudaGetErrorName(status));
  return ok;
}

template <typename T>
static bool check_all(bool pdl) {
  bool ok = true;
  const auto dense = [](int64_t n) { return ScaleShape{1, n, n, n}; };
  ok &= check<T>("no element", dense(0), 0, 0, false, pdl);
  ok &= check<T>("no row", {0, 8, 8, 8}, 0, 0, false, pdl);
  ok &= check<T>("one element", dense(1), 0, 0, false, pdl);
  ok &= check<T>("less than a vector", dense(3), 0, 0, false, pdl);
  ok &= check<T>("less than a block", dense(1003), 0, 0, false, pdl);
  ok &= check<T>("several loads a thread", dense((1 << 23) + 5), 0, 0, false, pdl);
  ok &= check<T>("in place", dense(100003), 0, 0, true, pdl);
  ok &= check<T>("misaligned input", dense(5001), 1, 0, false, pdl);
  ok &= check<T>("misaligned output", dense(5001), 0, 1, false, pdl);
  ok &= check<T>("rows at pitches", {37, 128, 192, 256}, 0, 64, false, pdl);
  ok &= check<T>("rows that end in a part", {37, 131, 192, 256}, 0, 0, false, pdl);
  ok &= check<T>("rows at an odd pitch", {37, 131, 135, 133}, 0, 0, false, pdl);
  ok &= check<T>("one row for all", {37, 128, 128, 0}, 0, 0, false, pdl);
  ok &= check<T>("every other element", {1001, 1, 3, 2}, 0, 0, false, pdl);
  return ok;
}

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return 77;
  const bool ok =
      check_all<float>(false) && check_all<__half>(true) && check_all<__nv_bfloat16>(true);
  return ok ? 0 : 1;
}
