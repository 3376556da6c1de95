#include <binding/ffi.h>

namespace my_kernels::cutlass {
using fictl::Launch;
using fictl::View;
int64_t hopper_linear_workspace(int64_t m, int64_t n, int64_t k);
void hopper_linear(const Launch& launch, View out, View a, View b, View workspace);
}  // namespace my_kernels::cutlass

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;

constexpr const char* kOp = "hopper_linear";

fictl::Error error_about(const char* name) {
  return fictl::argument_error(ErrorKind::ValueError, kOp, name);
}

void check_size(const char* name, View x, int dim, const char* other_name, View other,
                int other_dim) {
  if (x.size(dim) == other.size(other_dim)) return;
  fictl::raise(error_about(name) << "has shape " << Shape{x} << "; its dimension " << dim
                                 << " is dimension " << other_dim << " of '" << other_name
                                 << "', which has shape " << Shape{other});
}

// Rows are copied 16 bytes at a time.
void check_aligned_rows(const char* name, View x) {
  constexpr int kBytes = 16;
  const int size = x.dtype().bits / 8;
  const int64_t pitch = x.size(0) > 1 ? x.stride(0) * size : 0;
  if (x.numel() == 0) return;
  if (pitch % kBytes != 0) {
    fictl::raise(error_about(name)
                 << "has rows " << pitch << " bytes apart, which is not a multiple of " << kBytes
                 << "; pad them: torch.nn.functional.pad(" << name << ", (0, -" << name
                 << ".shape[1] % " << kBytes / size << "))");
  }
  fictl::check_aligned(kOp, name, x, kBytes);
}

// TMA copies rows in units of 16 bytes.
void check_cols(const char* name, View x) {
  const int values = 128 / x.dtype().bits;
  if (x.size(1) % values == 0) return;
  fictl::raise(error_about(name) << "has shape " << Shape{x}
                                 << "; its last dimension is not a multiple of " << values
                                 << ": pad it");
}

void check_matrix(const char* name, View x) {
  fictl::check_last_dim_contiguous(kOp, name, x);
  fictl::check_no_overlap(kOp, name, x);
  check_aligned_rows(name, x);
  check_cols(name, x);
}

int64_t hopper_linear_workspace(int64_t m, int64_t n, int64_t k) {
  return my_kernels::cutlass::hopper_linear_workspace(m, n, k);
}

void hopper_linear(View out, View a, View b, View workspace) {
  fictl::check_device(kOp, "a", a);
  fictl::check_same_device(kOp, "b", b, "a", a);
  fictl::check_same_device(kOp, "out", out, "a", a);
  fictl::check_same_device(kOp, "workspace", workspace, "a", a);
  fictl::check_same_dtype(kOp, "b", b, "a", a);
  fictl::check_same_dtype(kOp, "out", out, "a", a);
  fictl::check_dim(kOp, "a", a, 2);
  fictl::check_dim(kOp, "b", b, 2);
  fictl::check_dim(kOp, "out", out, 2);
  check_size("b", b, 1, "a", a, 1);
  check_size("out", out, 0, "a", a, 0);
  check_size("out", out, 1, "b", b, 0);
  check_matrix("a", a);
  check_matrix("b", b);
  check_matrix("out", out);
  fictl::call(__func__, a, my_kernels::cutlass::hopper_linear, out, a, b, workspace);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(hopper_linear_workspace, hopper_linear_workspace);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(hopper_linear, hopper_linear);
