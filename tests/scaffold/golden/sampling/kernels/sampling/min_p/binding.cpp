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
  fictl::check_dim(kOp, "out", out, 1);
  fictl::check_dtype(kOp, "out", out, fictl::kInt32);
  if (out.size(0) == each.size(0)) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "out")
               << "has shape " << Shape{out} << ", '" << name << "' has " << Shape{each}
               << "; it has a token for each");
}

void min_p(View out, View probs, double base, Optional<View> indices, Optional<View> seeds,
           Optional<View> offsets, int64_t seed, int64_t offset) {
  fictl::check_device(kOp, "probs", probs);
  fictl::check_same_device(kOp, "out", out, "probs", probs);
  fictl::check_dim(kOp, "probs", probs, 2);
  if (indices.has_value()) {
    fictl::check_same_device(kOp, "indices", *indices, "probs", probs);
    fictl::check_dim(kOp, "indices", *indices, 1);
  }
  check_out(out, indices.has_value() ? "indices" : "probs", indices.value_or(probs));
  fictl::check_contiguous(kOp, "out", out);
  fictl::call(kOp, probs, my_kernels::sampling::min_p, out, probs, base, pointer(indices),
              pointer(seeds), pointer(offsets), seed, offset);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(min_p, min_p);
