// The one header that bindings include, and the only one that includes tvm/ffi: tensor arguments,
// their checks, and the call of a launcher on the right device and stream.
#pragma once

#include <binding/checks.h>
#include <binding/launch.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/optional.h>

#include <optional>
#include <string>
#include <vector>

namespace fictl {

// Throws the error as tvm-ffi's, so that Python raises the exception of its kind.
[[noreturn]] inline void raise(const Error& error) {
  throw ::tvm::ffi::Error(error.kind(), error.what(), "");
}

// Runs code that throws plain C++ errors, as launchers and the conversions of views do.
template <typename Body>
auto translate(Body body) {
  try {
    return body();
  } catch (const Error& error) {
    raise(error);
  }
}

// Makes `device` the current device during its lifetime.
class DeviceGuard {
 public:
  DeviceGuard(const char* op, int device) : device_(device) {
    check_cuda(op, cudaGetDevice(&previous_), "cudaGetDevice");
    if (previous_ != device_) check_cuda(op, cudaSetDevice(device_), "cudaSetDevice");
  }
  ~DeviceGuard() {
    if (previous_ != device_) cudaSetDevice(previous_);
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int device_;
  int previous_ = 0;
};

inline int sm_count(const char* op, int device) {
  static const std::vector<int> counts = [op] {
    int devices = 0;
    check_cuda(op, cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
    std::vector<int> sm_counts(devices);
    for (int i = 0; i < devices; ++i) {
      check_cuda(op, cudaDeviceGetAttribute(&sm_counts[i], cudaDevAttrMultiProcessorCount, i),
                 "cudaDeviceGetAttribute");
    }
    return sm_counts;
  }();
  return counts[device];
}

// Runs `launcher(launch, arguments...)` on the device of `tensor` and its current stream.
template <typename... Params, typename... Args>
void call(const char* op, View tensor, void (*launcher)(const Launch&, Params...),
          const Args&... arguments) {
  translate([&] {
    const auto [type, device] = tensor.device();
    const DeviceGuard guard(op, device);
    const auto stream = static_cast<cudaStream_t>(TVMFFIEnvGetStream(type, device));
    launcher({stream, device, sm_count(op, device), /*pdl=*/true, op}, arguments...);
  });
}

}  // namespace fictl

// Lets exported functions take a View wherever Python passes a tensor. Why memory is checked here:
// tensors that torch wraps for a transform have none, and none of these may reach a kernel.
template <>
struct tvm::ffi::TypeTraits<fictl::View> : public tvm::ffi::TypeTraitsBase {
  static constexpr bool storage_enabled = false;

  static std::optional<fictl::View> TryCastFromAnyView(const TVMFFIAny* source) {
    if (source->type_index == kTVMFFIDLTensorPtr) {
      return with_memory(static_cast<const DLTensor*>(source->v_ptr));
    }
    if (source->type_index == kTVMFFITensor) {
      return with_memory(TVMFFITensorGetDLTensorPtr(source->v_obj));
    }
    return std::nullopt;
  }

  static fictl::View with_memory(fictl::View x) {
    if (x.data<void>() != nullptr || x.numel() == 0) return x;
    fictl::raise(fictl::Error(fictl::ErrorKind::RuntimeError)
                 << "a tensor of shape " << fictl::Shape{x} << " has no memory");
  }

  static std::string TypeStr() { return "Tensor"; }
  static std::string TypeSchema() { return R"({"type":"Tensor"})"; }
};

namespace fictl {

// The address of an optional tensor, or null: launchers take optional arguments as pointers.
inline const View* pointer(const ::tvm::ffi::Optional<View>& x) {
  return x.has_value() ? &*x : nullptr;
}

}  // namespace fictl
