// Checks of the arguments of a matrix product: what bindings include, after ffi.h.
#pragma once

#include <binding/checks.h>
#include <binding/gemm_call.h>

namespace fictl {

// Kernels number rows, columns and k by int, and round them up to whole tiles.
inline constexpr int64_t kMostGemmSize = int64_t{1} << 30;

namespace detail {

inline void check_gemm_matrix(const char* op, const char* name, View x, const GemmCall& call) {
  check_same_device(op, name, x, call.a_name, call.a);
  check_dim(op, name, x, call.a.ndim());
  for (int dim = 0; dim < x.ndim(); ++dim) {
    if (x.size(dim) > kMostGemmSize) {
      raise(argument_error(ErrorKind::ValueError, op, name)
            << "has shape " << Shape{x} << "; a dimension has up to " << kMostGemmSize
            << " elements");
    }
    if (x.size(dim) > 1 && x.stride(dim) < 0) {
      raise(argument_error(ErrorKind::ValueError, op, name)
            << "has strides " << Strides{x} << ", one of which is negative; pass " << name
            << ".contiguous()");
    }
  }
}

inline void check_gemm_shape(const char* op, const char* name, View x, const GemmCall& call,
                             int64_t rows, int64_t columns) {
  const View a = call.a;
  const bool batched = a.ndim() == 3;
  if (x.size(-2) == rows && x.size(-1) == columns && (!batched || x.size(0) == a.size(0))) return;
  Error error = argument_error(ErrorKind::ValueError, op, name);
  error << "has shape " << Shape{x} << "; with '" << call.a_name << "' of " << Shape{a}
        << " it has (";
  if (batched) error << a.size(0) << ", ";
  raise(error << rows << ", " << columns << ")");
}

// The bytes that a tensor spans, from its first element to its last.
inline int64_t spanned_bytes(View x) {
  int64_t last = 0;
  for (int dim = 0; dim < x.ndim(); ++dim) last += (x.size(dim) - 1) * x.stride(dim);
  return (last + 1) * (x.dtype().bits / 8);
}

// True if both are columns side by side, with one row stride, such as parts of a fused projection.
inline bool side_by_side(View x, View y) {
  const int bytes = x.dtype().bits / 8;
  if (bytes != y.dtype().bits / 8 || x.stride(-1) != 1 || y.stride(-1) != 1) return false;
  const int64_t pitch = x.stride(-2);
  if (pitch <= 0 || y.stride(-2) != pitch) return false;
  for (const View& z : {x, y}) {
    if (z.ndim() == 3 && z.size(0) > 1 && z.stride(0) % pitch != 0) return false;
  }
  const int64_t apart = (y.data<char>() - x.data<char>()) / bytes;
  const int64_t offset = (apart % pitch + pitch) % pitch;
  return offset >= x.size(-1) && offset + y.size(-1) <= pitch;
}

inline bool same_memory(View x, View y) {
  bool same = x.data<void>() == y.data<void>() && same_shape(x, y);
  for (int dim = 0; same && dim < x.ndim(); ++dim) {
    same = x.size(dim) <= 1 || x.stride(dim) == y.stride(dim);
  }
  return same;
}

}  // namespace detail

// Refuses an output that shares memory with an input, which other blocks may still read.
inline void check_apart(const char* op, View out, const char* name, View input) {
  if (out.numel() == 0 || input.numel() == 0) return;
  const char* begin = out.data<char>();
  const char* start = input.data<char>();
  if (begin + detail::spanned_bytes(out) <= start) return;
  if (start + detail::spanned_bytes(input) <= begin) return;
  if (out.ndim() == input.ndim() && detail::side_by_side(out, input)) return;
  raise(argument_error(ErrorKind::ValueError, op, "out")
        << "of shape " << Shape{out} << " shares memory with '" << name << "' of shape "
        << Shape{input} << "; pass another out");
}

// Checks a[m][k], b[n][k], out[m][n / columns_per_output], c[m][n] and bias[n].
inline void check_gemm(const char* op, const GemmCall& call, int64_t columns_per_output) {
  check_device(op, call.a_name, call.a);
  if (call.a.ndim() != 2) check_dim(op, call.a_name, call.a, 3);
  const int64_t m = call.a.size(-2);
  const int64_t n = call.b.ndim() < 2 ? 0 : call.b.size(-2);
  detail::check_gemm_matrix(op, call.a_name, call.a, call);
  detail::check_gemm_matrix(op, call.b_name, call.b, call);
  check_same_dtype(op, call.b_name, call.b, call.a_name, call.a);
  detail::check_gemm_shape(op, call.b_name, call.b, call, n, call.a.size(-1));
  if (n % columns_per_output != 0) {
    raise(argument_error(ErrorKind::ValueError, op, call.b_name)
          << "has shape " << Shape{call.b} << ": an activation that makes one output of "
          << columns_per_output << " rows of b takes a multiple of as many");
  }
  detail::check_gemm_matrix(op, "out", call.out, call);
  detail::check_gemm_shape(op, "out", call.out, call, m, n / columns_per_output);
  check_last_dim_contiguous(op, "out", call.out);
  check_no_overlap(op, "out", call.out);
  check_apart(op, call.out, call.a_name, call.a);
  check_apart(op, call.out, call.b_name, call.b);
  if (call.c != nullptr) {
    detail::check_gemm_matrix(op, "c", *call.c, call);
    check_same_dtype(op, "c", *call.c, "out", call.out);
    detail::check_gemm_shape(op, "c", *call.c, call, m, n);
    check_last_dim_contiguous(op, "c", *call.c);
    if (columns_per_output > 1 || !detail::same_memory(call.out, *call.c)) {
      check_apart(op, call.out, "c", *call.c);
    }
  }
  if (call.bias != nullptr) {
    check_same_device(op, "bias", *call.bias, call.a_name, call.a);
    check_same_dtype(op, "bias", *call.bias, call.a_name, call.a);
    check_dim(op, "bias", *call.bias, 1);
    check_contiguous(op, "bias", *call.bias);
    if (call.bias->size(0) != n) {
      raise(argument_error(ErrorKind::ValueError, op, "bias")
            << "has " << call.bias->size(0) << " elements, '" << call.b_name << "' of shape "
            << Shape{call.b} << " has " << n << " rows");
    }
    check_apart(op, call.out, "bias", *call.bias);
  }
}

}  // namespace fictl
