#include <binding/ffi.h>

namespace my_kernels::reduction {
int64_t l2_norm_workspace(fictl::View x);
void l2_norm(const fictl::Launch& launch, fictl::View out, fictl::View x, fictl::View workspace);
}  // namespace my_kernels::reduction

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;

constexpr const char* kOp = "l2_norm";

void check_rows(View out, View x) {
  bool same = out.ndim() == x.ndim() - 1;
  for (int dim = 0; same && dim < out.ndim(); ++dim) same = out.size(dim) == x.size(dim);
  if (same) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "out")
               << "has shape " << Shape{out} << ", 'x' has " << Shape{x}
               << "; it has one value for each row");
}

void check_workspace(View workspace, int64_t bytes) {
  if (workspace.contiguous() && workspace.numel() * workspace.dtype().bits / 8 >= bytes) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "workspace")
               << "has shape " << Shape{workspace} << "; expected " << bytes << " bytes");
}

int64_t l2_norm_workspace(View x) {
  fictl::check_dim(kOp, "x", x, 2);
  return my_kernels::reduction::l2_norm_workspace(x);
}

void l2_norm(View out, View x, View workspace) {
  fictl::check_device(kOp, "x", x);
  fictl::check_same_device(kOp, "out", out, "x", x);
  fictl::check_same_dtype(kOp, "out", out, "x", x);
  fictl::check_dim(kOp, "x", x, 2);
  check_rows(out, x);
  fictl::check_contiguous(kOp, "out", out);
  fictl::check_same_device(kOp, "workspace", workspace, "x", x);
  check_workspace(workspace, l2_norm_workspace(x));
  fictl::call(kOp, x, my_kernels::reduction::l2_norm, out, x, workspace);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(l2_norm_workspace, l2_norm_workspace);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(l2_norm, l2_norm);
