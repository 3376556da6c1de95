#include <binding/ffi.h>
#include <binding/gemm_checks.h>

namespace my_kernels::gemm {
void linear(const fictl::Launch& launch, fictl::GemmCall call);
}

namespace {

using fictl::View;

constexpr const char* kOp = "linear";
constexpr int kColumnsPerOutput = 1;  // as the epilogue has it

void linear(View out, View a, View b) {
  fictl::check_dim(kOp, "a", a, 2);
  fictl::GemmCall call{"a", "b", out, a, b};
  call.parts = 1;
  fictl::check_gemm(kOp, call, kColumnsPerOutput);
  fictl::check_same_dtype(kOp, "out", out, "a", a);
  fictl::check_aligned(kOp, "a", a, 16);
  fictl::check_aligned(kOp, "b", b, 16);
  fictl::call(kOp, a, my_kernels::gemm::linear, call);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(linear, linear);
