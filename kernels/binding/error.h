// Error: what bindings and launchers throw. Its text says what happened, the values seen, and what
// to do.
#pragma once

#include <binding/view.h>
#include <stdio.h>

namespace fictl {

// The Python exception that an Error becomes.
enum class ErrorKind { ValueError, TypeError, NotImplementedError, RuntimeError };

struct Shape {
  View of;
};

struct Strides {
  View of;
};

// Text is appended by <<, as in throw argument_error(ErrorKind::ValueError, op, "k") << "is " << k.
// Why a fixed buffer: <string> or <sstream> would cost every nvcc compile half a second.
class Error {
 public:
  explicit Error(ErrorKind kind) : kind_(kind) {}

  const char* kind() const {
    constexpr const char* kNames[] = {"ValueError", "TypeError", "NotImplementedError",
                                      "RuntimeError"};
    return kNames[static_cast<int>(kind_)];
  }
  const char* what() const { return text_; }

  Error& operator<<(const char* text) { return print("%s", text); }
  Error& operator<<(int value) { return print("%d", value); }
  Error& operator<<(int64_t value) { return print("%lld", static_cast<long long>(value)); }
  Error& operator<<(double value) { return print("%g", value); }

  // `(4, 8)`
  Error& operator<<(Shape shape) {
    return list(shape.of.ndim(), [&](int dim) { return shape.of.size(dim); });
  }
  Error& operator<<(Strides strides) {
    return list(strides.of.ndim(), [&](int dim) { return strides.of.stride(dim); });
  }

  Error& operator<<(DLDevice device) {
    if (device.device_type == kDLCPU) return *this << "CPU";
    if (device.device_type == kDLCUDA) return *this << "CUDA:" << device.device_id;
    return *this << "DLPack device type " << static_cast<int>(device.device_type);
  }

  // Prints the name that torch and fictl/dtype.py use.
  Error& operator<<(DLDataType dtype) {
    constexpr const char* kNames[] = {"int",
                                      "uint",
                                      "float",
                                      "handle",
                                      "bfloat",
                                      "complex",
                                      "bool",
                                      "float8_e3m4",
                                      "float8_e4m3",
                                      "float8_e4m3b11fnuz",
                                      "float8_e4m3fn",
                                      "float8_e4m3fnuz",
                                      "float8_e5m2",
                                      "float8_e5m2fnuz",
                                      "float8_e8m0fnu",
                                      "float6_e2m3fn",
                                      "float6_e3m2fn",
                                      "float4_e2m1fn"};
    if (dtype.code > kDLFloat4_e2m1fn) return *this << "DLPack type code " << dtype.code;
    *this << kNames[dtype.code];
    if (dtype.code < kDLBool) *this << dtype.bits;
    return dtype.lanes == 1 ? *this : *this << "_x" << dtype.lanes;
  }

 private:
  template <typename Value>
  Error& print(const char* format, Value value) {
    const int space = static_cast<int>(sizeof(text_)) - length_;
    const int wanted = snprintf(text_ + length_, space, format, value);
    length_ += wanted < space ? wanted : space - 1;
    return *this;
  }

  template <typename Item>
  Error& list(int count, Item item) {
    *this << "(";
    for (int i = 0; i < count; ++i) *this << (i == 0 ? "" : ", ") << item(i);
    return *this << (count == 1 ? ",)" : ")");
  }

  ErrorKind kind_;
  int length_ = 0;
  char text_[1024] = "";
};

// An error about one argument, to be completed by <<.
inline Error argument_error(ErrorKind kind, const char* op, const char* name) {
  Error error(kind);
  error << op << ": argument '" << name << "' ";
  return error;
}

}  // namespace fictl

#define FICTL_THROW(kind) throw ::fictl::Error(::fictl::ErrorKind::kind)
