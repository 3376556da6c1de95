#include <binding/ffi.h>

namespace fictl::sampling {
void sampling_from_logits(const Launch& launch, View out, View logits, const View* rows,
                          const View* seeds, const View* offsets, int64_t seed, int64_t offset,
                          bool enable_pdl);
}  // namespace fictl::sampling

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;

void check_logits(const char* op, View logits) {
  fictl::check_device(op, "logits", logits);
  fictl::check_dim(op, "logits", logits, 2);
  fictl::check_last_dim_contiguous(op, "logits", logits);
}

void check_indices(const char* op, View indices, View logits) {
  fictl::check_same_device(op, "indices", indices, "logits", logits);
  fictl::check_dim(op, "indices", indices, 1);
  fictl::check_dtype(op, "indices", indices, {fictl::kInt32, fictl::kInt64});
}

void check_out(const char* op, View out, View logits, const View* indices) {
  fictl::check_same_device(op, "out", out, "logits", logits);
  fictl::check_dtype(op, "out", out, {fictl::kInt32, fictl::kInt64});
  const int64_t batch = indices == nullptr ? logits.size(0) : indices->size(0);
  if (out.ndim() != 1 || out.size(0) != batch) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "out")
                 << "has shape " << Shape{out} << "; it is (" << batch << ",)");
  }
  fictl::check_contiguous(op, "out", out);
}

void sampling_from_logits(View out, View logits, tvm::ffi::Optional<View> indices,
                          tvm::ffi::Optional<View> seeds, tvm::ffi::Optional<View> offsets,
                          int64_t seed, int64_t offset, bool enable_pdl) {
  check_logits(__func__, logits);
  if (indices.has_value()) check_indices(__func__, *indices, logits);
  check_out(__func__, out, logits, pointer(indices));
  fictl::call(__func__, logits, fictl::sampling::sampling_from_logits, out, logits,
              pointer(indices), pointer(seeds), pointer(offsets), seed, offset, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(sampling_from_logits, sampling_from_logits);
