// What bindings include, and the only header that includes tvm/ffi: tensor arguments, their checks,
// and the call of a launcher on the right device and stream.
#pragma once

#include <binding/launch.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/optional.h>

#include <optional>
#include <string>
#include <vector>

namespace fictl {

// Throws the error so that Python sees it as its kind.
[[noreturn]] inline void raise(const Error& error) {
  throw ::tvm::ffi::Error(error.kind(), error.what(), "");
}

// Runs launcher code, whose errors are plain C++.
template <typename Body>
void translate(Body body) {
  try {
    body();
  } catch (const Error& error) {
    raise(error);
  }
}

inline Error argument_error(ErrorKind kind, const char* op, const char* name) {
  Error error(kind);
  error << op << ": argument '" << name << "' ";
  return error;
}

inline void check_device(const char* op, const char* name, View x) {
#ifdef FICTL_EMU
  constexpr DLDeviceType kExpected = kDLCPU;
  constexpr const char* kBuiltFor = "CPU tensors, for the emulated device";
  constexpr const char* kWayOut = ".cpu(), or unset FICTL_DEVICE to run it on a GPU";
#else
  constexpr DLDeviceType kExpected = kDLCUDA;
  constexpr const char* kBuiltFor = "CUDA tensors";
  constexpr const char* kWayOut =
      ".cuda(), or set FICTL_DEVICE=emu to run it on the emulated device";
#endif
  if (x.device().device_type == kExpected) return;
  raise(argument_error(ErrorKind::ValueError, op, name)
        << "is on " << x.device() << ", but this build takes " << kBuiltFor << "; pass " << name
        << kWayOut);
}

inline void check_contiguous(const char* op, const char* name, View x) {
  if (x.contiguous()) return;
  raise(argument_error(ErrorKind::ValueError, op, name)
        << "is not contiguous: shape " << Shape{x} << ", strides " << Strides{x} << "; pass "
        << name << ".contiguous()");
}

// That of every row, or whatever the last dimension is `of`, the elements lie side by side.
inline void check_neighbours(const char* op, const char* name, View x, const char* of = "row") {
  if (x.size(-1) <= 1 || x.stride(-1) == 1) return;
  raise(argument_error(ErrorKind::ValueError, op, name)
        << "has strides " << Strides{x} << ": the elements of a " << of
        << " are not neighbours; pass " << name << ".contiguous()");
}

inline void check_dim(const char* op, const char* name, View x, int ndim) {
  if (x.ndim() == ndim) return;
  raise(argument_error(ErrorKind::ValueError, op, name)
        << "has shape " << Shape{x} << ", which is not " << ndim << "-dimensional");
}

inline void check_same_shape(const char* op, const char* name, View x, const char* other_name,
                             View other) {
  if (same_shape(x, other)) return;
  raise(argument_error(ErrorKind::ValueError, op, name)
        << "has shape " << Shape{x} << ", '" << other_name << "' has " << Shape{other});
}

inline void check_same_dtype(const char* op, const char* name, View x, const char* other_name,
                             View other) {
  if (same_dtype(x.dtype(), other.dtype())) return;
  raise(argument_error(ErrorKind::TypeError, op, name)
        << "has dtype " << x.dtype() << ", '" << other_name << "' has " << other.dtype());
}

inline void check_same_device(const char* op, const char* name, View x, const char* other_name,
                              View other) {
  if (same_device(x.device(), other.device())) return;
  raise(argument_error(ErrorKind::ValueError, op, name)
        << "is on " << x.device() << ", '" << other_name << "' on " << other.device());
}

// Makes `device` current for as long as it lives.
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
    std::vector<int> found(devices);
    for (int i = 0; i < devices; ++i) {
      check_cuda(op, cudaDeviceGetAttribute(&found[i], cudaDevAttrMultiProcessorCount, i),
                 "cudaDeviceGetAttribute");
    }
    return found;
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

// Lets exported functions take a View wherever Python passes a tensor. Why memory is looked at
// here: what torch wraps for a transform has none, and no function may give it to a kernel.
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

// As launchers take what may be left out.
inline const View* pointer(const ::tvm::ffi::Optional<View>& x) {
  return x.has_value() ? &*x : nullptr;
}

}  // namespace fictl

// Checks of a binding's arguments, inside the binding's function, whose name is the op's.
#define CHECK_CUDA(x) ::fictl::check_device(__func__, #x, x)
#define CHECK_CONTIGUOUS(x) ::fictl::check_contiguous(__func__, #x, x)
#define CHECK_INPUT(x) (CHECK_CUDA(x), CHECK_CONTIGUOUS(x))
#define CHECK_DIM(x, ndim) ::fictl::check_dim(__func__, #x, x, ndim)
#define CHECK_SAME_SHAPE(x, other) ::fictl::check_same_shape(__func__, #x, x, #other, other)
#define CHECK_SAME_DTYPE(x, other) ::fictl::check_same_dtype(__func__, #x, x, #other, other)
#define CHECK_SAME_DEVICE(x, other) ::fictl::check_same_device(__func__, #x, x, #other, other)
