#include <binding/ffi.h>

namespace my_kernels::scan {
int64_t cumsum_workspace(fictl::View x);
void cumsum(const fictl::Launch& launch, fictl::View out, fictl::View x, fictl::View workspace,
            bool exclusive);
}  // namespace my_kernels::scan

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;

constexpr const char* kOp = "cumsum";

void check_workspace(View workspace, int64_t bytes) {
  if (workspace.contiguous() && workspace.numel() * workspace.dtype().bits / 8 >= bytes) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "workspace")
               << "has shape " << Shape{workspace} << "; expected " << bytes << " bytes");
}

int64_t cumsum_workspace(View x) {
  fictl::check_dim(kOp, "x", x, 2);
  return my_kernels::scan::cumsum_workspace(x);
}

void cumsum(View out, View x, View workspace, bool exclusive) {
  fictl::check_device(kOp, "x", x);
  fictl::check_dim(kOp, "x", x, 2);
  fictl::check_same_device(kOp, "out", out, "x", x);
  fictl::check_same_dtype(kOp, "out", out, "x", x);
  fictl::check_same_shape(kOp, "out", out, "x", x);
  fictl::check_same_device(kOp, "workspace", workspace, "x", x);
  check_workspace(workspace, cumsum_workspace(x));
  fictl::call(kOp, x, my_kernels::scan::cumsum, out, x, workspace, exclusive);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(cumsum_workspace, cumsum_workspace);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(cumsum, cumsum);
