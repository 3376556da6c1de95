#include <binding/ffi.h>

namespace fictl::norm {
void rmsnorm(const Launch& launch, View out, View input, View weight, double eps, bool enable_pdl);
}

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::Strides;
using fictl::View;

void check_rows(const char* op, View input) {
  if (input.ndim() == 2 || input.ndim() == 3) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "input")
               << "has shape " << Shape{input}
               << "; pass it as (rows, hidden) or (tokens, heads, hidden)");
}

void check_weight_size(const char* op, View weight, View input) {
  if (weight.size(0) == input.size(-1)) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "weight")
               << "has " << weight.size(0) << " elements, a row of 'input' has " << input.size(-1));
}

void check_neighbours(const char* op, const char* name, View x) {
  if (x.size(-1) <= 1 || x.stride(-1) == 1) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, name)
               << "has strides " << Strides{x}
               << ": the elements of a row are not neighbours; pass " << name << ".contiguous()");
}

void check_no_overlap(const char* op, View out) {
  for (int dim = 0; dim < out.ndim() - 1; ++dim) {
    if (out.size(dim) <= 1 || out.stride(dim) >= out.size(-1)) continue;
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "out")
                 << "has shape " << Shape{out} << " and strides " << Strides{out}
                 << ": its rows overlap; pass a contiguous out");
  }
}

void rmsnorm(View out, View input, View weight, double eps, bool enable_pdl) {
  CHECK_CUDA(input);
  CHECK_SAME_DEVICE(weight, input);
  CHECK_SAME_DEVICE(out, input);
  CHECK_SAME_DTYPE(weight, input);
  CHECK_SAME_DTYPE(out, input);
  check_rows(__func__, input);
  CHECK_DIM(weight, 1);
  check_weight_size(__func__, weight, input);
  CHECK_CONTIGUOUS(weight);
  CHECK_SAME_SHAPE(out, input);
  check_neighbours(__func__, "input", input);
  check_neighbours(__func__, "out", out);
  check_no_overlap(__func__, out);
  fictl::call(__func__, input, fictl::norm::rmsnorm, out, input, weight, eps, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(rmsnorm, rmsnorm);
