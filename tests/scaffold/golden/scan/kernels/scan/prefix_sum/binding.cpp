#include <binding/ffi.h>

namespace my_kernels::scan {
int64_t prefix_sum_workspace(fictl::View x);
void prefix_sum(const fictl::Launch& launch, fictl::View out, fictl::View x, fictl::View workspace,
                bool exclusive);
}  // namespace my_kernels::scan

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;

constexpr const char* kOp = "prefix_sum";

void check_workspace(View workspace, int64_t bytes) {
  if (workspace.contiguous() && workspace.numel() * workspace.dtype().bits / 8 >= bytes) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "workspace")
               << "has shape " << Shape{workspace} << "; expected " << bytes << " bytes");
}

int64_t prefix_sum_workspace(View x) {
  fictl::check_dim(kOp, "x", x, 2);
  return my_kernels::scan::prefix_sum_workspace(x);
}

void prefix_sum(View out, View x, View workspace, bool exclusive) {
  fictl::check_device(kOp, "x", x);
  fictl::check_dim(kOp, "x", x, 2);
  fictl::check_same_device(kOp, "out", out, "x", x);
  fictl::check_same_dtype(kOp, "out", out, "x", x);
  fictl::check_same_shape(kOp, "out", out, "x", x);
  fictl::check_same_device(kOp, "workspace", workspace, "x", x);
  check_workspace(workspace, prefix_sum_workspace(x));
  fictl::call(kOp, x, my_kernels::scan::prefix_sum, out, x, workspace, exclusive);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(prefix_sum_workspace, prefix_sum_workspace);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(prefix_sum, prefix_sum);
