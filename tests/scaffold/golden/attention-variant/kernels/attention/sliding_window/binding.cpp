#include <binding/ffi.h>

namespace my_kernels::attention {
void sliding_window(const fictl::Launch& launch, fictl::View out, fictl::View q, fictl::View k,
                    fictl::View v, int64_t window, fictl::View work, bool causal, double scale);
}

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::Strides;
using fictl::View;

constexpr const char* kOp = "sliding_window";

// The kernel copies 16 bytes at a time: strides of tokens and heads are multiples of that.
void check_heads(const char* name, View x) {
  fictl::check_last_dim_contiguous(kOp, name, x);
  constexpr int64_t kElements = 8;
  const auto apart = [&](int dim) { return x.size(dim) <= 1 || x.stride(dim) % kElements == 0; };
  fictl::check_aligned(kOp, name, x, 16);
  if (x.numel() == 0 || (apart(0) && apart(1))) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, name)
               << "has strides " << Strides{x} << ": heads must be aligned to 16 bytes; pass "
               << name << ".clone()");
}

void sliding_window(View out, View q, View k, View v, int64_t window, View work, bool causal,
                    double scale) {
  fictl::check_device(kOp, "q", q);
  fictl::check_same_device(kOp, "k", k, "q", q);
  fictl::check_same_dtype(kOp, "k", k, "q", q);
  fictl::check_same_device(kOp, "v", v, "q", q);
  fictl::check_same_dtype(kOp, "v", v, "q", q);
  fictl::check_same_device(kOp, "out", out, "q", q);
  fictl::check_same_dtype(kOp, "out", out, "q", q);
  fictl::check_same_shape(kOp, "v", v, "k", k);
  fictl::check_same_shape(kOp, "out", out, "q", q);
  check_heads("q", q);
  check_heads("k", k);
  check_heads("v", v);
  check_heads("out", out);
  fictl::check_contiguous(kOp, "out", out);
  fictl::call(kOp, q, my_kernels::attention::sliding_window, out, q, k, v, window, work, causal,
              scale);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(sliding_window, sliding_window);
