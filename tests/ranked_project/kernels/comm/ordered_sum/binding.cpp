#include <binding/ffi.h>

namespace ranked::comm {
void ordered_sum(const fictl::Launch& launch, fictl::View out, fictl::View rows);
}

namespace {

void ordered_sum(fictl::View out, fictl::View rows) {
  fictl::check_device(__func__, "rows", rows);
  fictl::check_same_device(__func__, "out", out, "rows", rows);
  fictl::check_contiguous(__func__, "out", out);
  fictl::check_contiguous(__func__, "rows", rows);
  fictl::call(__func__, rows, ranked::comm::ordered_sum, out, rows);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(ordered_sum, ordered_sum);
