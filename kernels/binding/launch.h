// The header that launchers include: where to launch, views of the arguments, and the dispatch from
// run-time values to template arguments.
#pragma once

#include <binding/error.h>
#include <binding/view.h>
#include <cuda_runtime_api.h>

namespace fictl {

namespace device {
template <typename T>
struct Element;  // <fictl/device/element.cuh>
}

// Stream, device and options of a launch, and the op's name for error messages.
struct Launch {
  cudaStream_t stream;
  int device;
  int sm_count;
  bool pdl;  // use programmatic dependent launch where the GPU and the build support it
  const char* op;
};

inline void check_cuda(const char* op, cudaError_t status, const char* expression) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // Why: later checks must not see this error again.
  Error error(ErrorKind::RuntimeError);
  error << op << ": " << cudaGetErrorName(status) << ": " << cudaGetErrorString(status) << " (from "
        << expression << ")";
  if (status == cudaErrorNoKernelImageForDevice) {
    error << "; this build has no code for this GPU's architecture: build with it in "
             "FICTL_CUDA_ARCH_LIST";
  }
  throw error;
}

template <typename T>
struct Type {
  using type = T;
};

template <typename... Ts>
struct Types {};

template <int64_t N>
struct Value {
  static constexpr int64_t kValue = N;
};

template <int64_t... Ns>
struct Values {};

template <typename T>
bool has_dtype(View tensor) {
  using Element = device::Element<T>;
  return same_dtype(tensor.dtype(), {Element::kCode, Element::kBits, Element::kLanes});
}

template <typename... Ts, typename Body>
void dispatch_dtype(const Launch& launch, const char* argument, View tensor, Types<Ts...>,
                    Body body) {
  if (((has_dtype<Ts>(tensor) && (body(Type<Ts>()), true)) || ...)) return;
  Error error = argument_error(ErrorKind::TypeError, launch.op, argument);
  error << "has dtype " << tensor.dtype() << "; accepted: ";
  const char* separator = "";
  ((error << separator << device::Element<Ts>::kName, separator = ", "), ...);
  throw error;
}

template <int64_t... Ns, typename Body>
void dispatch_int(const Launch& launch, const char* argument, int64_t value, Values<Ns...>,
                  Body body) {
  if (((value == Ns && (body(Value<Ns>()), true)) || ...)) return;
  Error error = argument_error(ErrorKind::NotImplementedError, launch.op, argument);
  error << "is " << value << "; accepted: ";
  const char* separator = "";
  ((error << separator << Ns, separator = ", "), ...);
  throw error;
}

}  // namespace fictl

#define FICTL_UNPACK(...) __VA_ARGS__

// Throws a RuntimeError that names the op, the cudaError and its text.
#define CUDA_CHECK(launch, expression) ::fictl::check_cuda((launch).op, expression, #expression)

// Runs the body with T the C++ type of the tensor's dtype:
//   DISPATCH_DTYPE(launch, input, T, (__half, float), { ... Kernel<T> ... });
#define DISPATCH_DTYPE(launch, tensor, T, types, ...)                                    \
  ::fictl::dispatch_dtype(launch, #tensor, tensor, ::fictl::Types<FICTL_UNPACK types>(), \
                          [&](auto fictl_##T) {                                          \
                            using T = typename decltype(fictl_##T)::type;                \
                            __VA_ARGS__;                                                 \
                          })

// Runs the body with N the value as a constant:
//   DISPATCH_INT(launch, head_dim, kHeadDim, (64, 128), { ... Kernel<kHeadDim> ... });
#define DISPATCH_INT(launch, value, N, values, ...)                                    \
  ::fictl::dispatch_int(launch, #value, value, ::fictl::Values<FICTL_UNPACK values>(), \
                        [&](auto fictl_##N) {                                          \
                          constexpr int64_t N = decltype(fictl_##N)::kValue;           \
                          __VA_ARGS__;                                                 \
                        })

#define DISPATCH_BOOL(launch, value, B, ...)                                   \
  ::fictl::dispatch_int(launch, #value, value, ::fictl::Values<false, true>(), \
                        [&](auto fictl_##B) {                                  \
                          constexpr bool B = decltype(fictl_##B)::kValue;      \
                          __VA_ARGS__;                                         \
                        })
