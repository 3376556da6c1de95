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
using fictl::Strides;
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

void check_neighbours(const char* name, View x) {
  if (x.size(1) <= 1 || x.stride(1) == 1) return;
  fictl::raise(error_about(name) << "has strides " << Strides{x}
                                 << ": the elements of a row are not neighbours; pass " << name
                                 << ".contiguous()");
}

// For copies of 16 bytes.
void check_aligned(const char* name, View x) {
  constexpr int kBytes = 16;
  const int size = x.dtype().bits / 8;
  const int64_t pitch = x.size(0) > 1 ? x.stride(0) * size : 0;
  if (x.numel() == 0) return;
  if (pitch % kBytes != 0) {
    fictl::raise(error_about(name)
                 << "has rows " << pitch << " bytes apart, which is no multiple of " << kBytes
                 << "; pad them: torch.nn.functional.pad(" << name << ", (0, -" << name
                 << ".shape[1] % " << kBytes / size << "))");
  }
  if (reinterpret_cast<uintptr_t>(x.data<void>()) % kBytes != 0) {
    fictl::raise(error_about(name) << "begins at an address that is no multiple of " << kBytes
                                   << " bytes; pass " << name << ".clone()");
  }
}

void check_no_overlap(const char* name, View x) {
  if (x.size(0) <= 1 || x.stride(0) >= x.size(1)) return;
  fictl::raise(error_about(name) << "has shape " << Shape{x} << " and strides " << Strides{x}
                                 << ": its rows overlap; pass a contiguous " << name);
}

// For TMA, which moves 16 bytes of a row or none.
void check_cols(const char* name, View x) {
  const int values = 128 / x.dtype().bits;
  if (x.size(1) % values == 0) return;
  fictl::raise(error_about(name) << "has shape " << Shape{x} << "; its columns are no multiple of "
                                 << values << ", pad them");
}

void check_matrix(const char* name, View x) {
  check_neighbours(name, x);
  check_no_overlap(name, x);
  check_aligned(name, x);
  check_cols(name, x);
}

int64_t hopper_linear_workspace(int64_t m, int64_t n, int64_t k) {
  return my_kernels::cutlass::hopper_linear_workspace(m, n, k);
}

void hopper_linear(View out, View a, View b, View workspace) {
  CHECK_CUDA(a);
  CHECK_SAME_DEVICE(b, a);
  CHECK_SAME_DEVICE(out, a);
  CHECK_SAME_DEVICE(workspace, a);
  CHECK_SAME_DTYPE(b, a);
  CHECK_SAME_DTYPE(out, a);
  CHECK_DIM(a, 2);
  CHECK_DIM(b, 2);
  CHECK_DIM(out, 2);
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
