#include <binding/ffi.h>

namespace my_kernels::sampling {
void min_p(const fictl::Launch& launch, fictl::View out, fictl::View probs, double base,
           const fictl::View* indices, const fictl::View* seeds, const fictl::View* offsets,
           int64_t seed, int64_t offset);
}

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;
using tvm::ffi::Optional;

constexpr const char* kOp = "min_p";

// A token for each row, or for each of the indices.
void check_out(View out, const char* name, View each) {
  constexpr DLDataType kInt{kDLInt, 32, 1};
  fictl::check_dim(kOp, "out", out, 1);
  if (!fictl::same_dtype(out.dtype(), kInt)) {
    fictl::raise(fictl::argument_error(ErrorKind::TypeError, kOp, "out")
                 << "has dtype " << out.dtype() << "; it is int32");
  }
  if (out.size(0) == each.size(0)) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "out")
               << "has shape " << Shape{out} << ", '" << name << "' has " << Shape{each}
               << "; it has a token for each");
}

void min_p(View out, View probs, double base, Optional<View> indices, Optional<View> seeds,
           Optional<View> offsets, int64_t seed, int64_t offset) {
  CHECK_CUDA(probs);
  CHECK_SAME_DEVICE(out, probs);
  CHECK_DIM(probs, 2);
  if (indices.has_value()) {
    fictl::check_same_device(kOp, "indices", *indices, "probs", probs);
    fictl::check_dim(kOp, "indices", *indices, 1);
  }
  check_out(out, indices.has_value() ? "indices" : "probs", indices.value_or(probs));
  CHECK_CONTIGUOUS(out);
  fictl::call(kOp, probs, my_kernels::sampling::min_p, out, probs, base, pointer(indices),
              pointer(seeds), pointer(offsets), seed, offset);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(min_p, min_p);
