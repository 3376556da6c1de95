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

// Tokens and heads are at any multiple of 16 bytes: the kernel copies as many at once.
void check_heads(const char* name, View x) {
  fictl::check_neighbours(kOp, name, x, "head");
  constexpr int64_t kElements = 8;
  const auto apart = [&](int dim) { return x.size(dim) <= 1 || x.stride(dim) % kElements == 0; };
  const bool aligned = reinterpret_cast<uintptr_t>(x.data<void>()) % 16 == 0;
  if (x.numel() == 0 || (apart(0) && apart(1) && aligned)) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, name)
               << "has strides " << Strides{x} << ": heads are not at multiples of 16 bytes; pass "
               << name << ".clone()");
}

void sliding_window(View out, View q, View k, View v, int64_t window, View work, bool causal,
                    double scale) {
  CHECK_CUDA(q);
  CHECK_SAME_DEVICE(k, q);
  CHECK_SAME_DTYPE(k, q);
  CHECK_SAME_DEVICE(v, q);
  CHECK_SAME_DTYPE(v, q);
  CHECK_SAME_DEVICE(out, q);
  CHECK_SAME_DTYPE(out, q);
  CHECK_SAME_SHAPE(v, k);
  CHECK_SAME_SHAPE(out, q);
  check_heads("q", q);
  check_heads("k", k);
  check_heads("v", v);
  check_heads("out", out);
  CHECK_CONTIGUOUS(out);
  fictl::call(kOp, q, my_kernels::attention::sliding_window, out, q, k, v, window, work, causal,
              scale);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(sliding_window, sliding_window);
