// Argument checks of bindings. Each message names the op, the argument and the values seen:
//   fictl::check_dim(__func__, "weight", weight, 1);
// A launcher checks nothing by hand: the headers that convert a tensor into a kernel's arguments
// (row_pitch.h, rows.h, indices.h, paged.h, ...) check what they convert.
#pragma once

#include <binding/dtype.h>
#include <binding/error.h>
#include <binding/view.h>

#include <initializer_list>

namespace fictl {

[[noreturn]] void raise(const Error& error);  // defined in <binding/ffi.h>

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

inline void check_same_device(const char* op, const char* name, View x, const char* other_name,
                              View other) {
  if (same_device(x.device(), other.device())) return;
  raise(argument_error(ErrorKind::ValueError, op, name)
        << "is on " << x.device() << ", '" << other_name << "' on " << other.device());
}

inline void check_dtype(const char* op, const char* name, View x,
                        std::initializer_list<DLDataType> accepted) {
  for (const DLDataType dtype : accepted) {
    if (same_dtype(x.dtype(), dtype)) return;
  }
  Error error = argument_error(ErrorKind::TypeError, op, name);
  error << "has dtype " << x.dtype() << "; accepted: ";
  const char* separator = "";
  for (const DLDataType dtype : accepted) {
    error << separator << dtype;
    separator = ", ";
  }
  raise(error);
}

inline void check_dtype(const char* op, const char* name, View x, DLDataType accepted) {
  check_dtype(op, name, x, {accepted});
}

inline void check_same_dtype(const char* op, const char* name, View x, const char* other_name,
                             View other) {
  if (same_dtype(x.dtype(), other.dtype())) return;
  raise(argument_error(ErrorKind::TypeError, op, name)
        << "has dtype " << x.dtype() << ", '" << other_name << "' has " << other.dtype());
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

inline void check_contiguous(const char* op, const char* name, View x) {
  if (x.contiguous()) return;
  raise(argument_error(ErrorKind::ValueError, op, name)
        << "is not contiguous: shape " << Shape{x} << ", strides " << Strides{x} << "; pass "
        << name << ".contiguous()");
}

inline void check_last_dim_contiguous(const char* op, const char* name, View x) {
  if (x.size(-1) <= 1 || x.stride(-1) == 1) return;
  raise(argument_error(ErrorKind::ValueError, op, name)
        << "has strides " << Strides{x}
        << ": the last dimension must be contiguous (stride 1); pass " << name << ".contiguous()");
}

// For a tensor that the kernel writes: no two rows, which are along the last dimension, share an
// element.
inline void check_no_overlap(const char* op, const char* name, View x) {
  for (int dim = 0; dim < x.ndim() - 1; ++dim) {
    if (x.size(dim) <= 1 || x.stride(dim) >= x.size(-1)) continue;
    raise(argument_error(ErrorKind::ValueError, op, name)
          << "has shape " << Shape{x} << " and strides " << Strides{x}
          << ": its rows overlap; pass a contiguous " << name);
  }
}

// The address of the first element is a multiple of `bytes`.
inline void check_aligned(const char* op, const char* name, View x, int bytes) {
  if (x.numel() == 0 || reinterpret_cast<uintptr_t>(x.data<void>()) % bytes == 0) return;
  raise(argument_error(ErrorKind::ValueError, op, name)
        << "is not aligned to " << bytes << " bytes; pass " << name << ".clone()");
}

}  // namespace fictl
