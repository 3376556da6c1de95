#include <binding/ffi.h>

namespace bytes {
using fictl::Launch;
using fictl::View;
void weigh(const Launch& launch, View out, View p, View v);
void widen(const Launch& launch, View out, View x);
}  // namespace bytes

namespace {

using fictl::View;

void weigh(View out, View p, View v) { fictl::call(__func__, out, bytes::weigh, out, p, v); }

void widen(View out, View x) { fictl::call(__func__, out, bytes::widen, out, x); }

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(weigh, weigh);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(widen, widen);
