#include <binding/ffi.h>

namespace mma {
using fictl::Launch;
using fictl::View;
void places(const Launch& launch, View out, int64_t chunks);
void product(const Launch& launch, View out, View a, View b, int64_t valid, bool b_along_n);
}  // namespace mma

namespace {

using fictl::View;

void places(View out, int64_t chunks) { fictl::call(__func__, out, mma::places, out, chunks); }

void product(View out, View a, View b, int64_t valid, bool b_along_n) {
  fictl::call(__func__, out, mma::product, out, a, b, valid, b_along_n);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(places, places);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(product, product);
