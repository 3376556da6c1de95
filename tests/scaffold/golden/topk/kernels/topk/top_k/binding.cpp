#include <binding/ffi.h>

namespace my_kernels::topk {
void top_k(const fictl::Launch& launch, fictl::View values, fictl::View indices, fictl::View logits,
           int64_t k);
}

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;

constexpr const char* kOp = "top_k";

void check_k(int64_t k, View logits) {
  constexpr int64_t kMostCols = (int64_t{1} << 31) - 64;  // of whole vectors, within 32 bits
  if (logits.size(1) > kMostCols) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "logits")
                 << "has shape " << Shape{logits} << "; a row has at most " << kMostCols
                 << " elements");
  }
  if (k >= 0 && k <= logits.size(1)) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "k")
               << "is " << k << ", 'logits' has rows of " << logits.size(1) << " elements");
}

// One for each of the k elements of every row.
void check_chosen(const char* name, View chosen, View logits, int64_t k) {
  fictl::check_same_device(kOp, name, chosen, "logits", logits);
  const int64_t rows = logits.size(0);
  if (chosen.ndim() == 2 && chosen.size(0) == rows && chosen.size(1) == k) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, name)
               << "has shape " << Shape{chosen} << "; it is (" << rows << ", " << k << ")");
}

void top_k(View values, View indices, View logits, int64_t k) {
  fictl::check_device(kOp, "logits", logits);
  fictl::check_dim(kOp, "logits", logits, 2);
  check_k(k, logits);
  check_chosen("values", values, logits, k);
  fictl::check_same_dtype(kOp, "values", values, "logits", logits);
  check_chosen("indices", indices, logits, k);
  fictl::check_dtype(kOp, "indices", indices, fictl::kInt32);
  fictl::call(kOp, logits, my_kernels::topk::top_k, values, indices, logits, k);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(top_k, top_k);
