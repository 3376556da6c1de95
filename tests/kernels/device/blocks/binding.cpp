#include <binding/ffi.h>

namespace blocks {
using fictl::Launch;
using fictl::View;
void places(const Launch& launch, View out, int64_t chunks);
void copy(const Launch& launch, View out, View from, View bytes);
void matrices(const Launch& launch, View out, View rows, bool transposed);
void product(const Launch& launch, View out, View a, View b, bool b_along_n);
void softmax(const Launch& launch, View out, View lse, View scores, View values, int64_t parts);
void tanh(const Launch& launch, View out, View x);
void polynomial_exp2(const Launch& launch, View out, View x);
void put(const Launch& launch, View out, View from);
}  // namespace blocks

namespace {

using fictl::View;

void places(View out, int64_t chunks) { fictl::call(__func__, out, blocks::places, out, chunks); }

void copy(View out, View from, View bytes) {
  fictl::call(__func__, out, blocks::copy, out, from, bytes);
}

void matrices(View out, View rows, bool transposed) {
  fictl::call(__func__, out, blocks::matrices, out, rows, transposed);
}

void product(View out, View a, View b, bool b_along_n) {
  fictl::call(__func__, out, blocks::product, out, a, b, b_along_n);
}

void softmax(View out, View lse, View scores, View values, int64_t parts) {
  fictl::call(__func__, out, blocks::softmax, out, lse, scores, values, parts);
}

void fast_tanh(View out, View x) { fictl::call(__func__, out, blocks::tanh, out, x); }

void polynomial_exp2(View out, View x) {
  fictl::call(__func__, out, blocks::polynomial_exp2, out, x);
}

void put(View out, View from) { fictl::call(__func__, out, blocks::put, out, from); }

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(places, places);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(copy, copy);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(matrices, matrices);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(product, product);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(softmax, softmax);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(fast_tanh, fast_tanh);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(polynomial_exp2, polynomial_exp2);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(put, put);
