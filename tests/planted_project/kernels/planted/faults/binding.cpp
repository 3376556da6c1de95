#include <binding/ffi.h>

namespace planted::planted {
void out_of_bounds(const fictl::Launch& launch, fictl::View out, fictl::View input);
void shared_race(const fictl::Launch& launch, fictl::View out, fictl::View input);
void unwritten(const fictl::Launch& launch, fictl::View out, fictl::View input,
               fictl::View scratch);
void lost_threads(const fictl::Launch& launch, fictl::View out, fictl::View input);
void spilling(const fictl::Launch& launch, fictl::View out, fictl::View input);
void local_array(const fictl::Launch& launch, fictl::View out, fictl::View input);
}  // namespace planted::planted

namespace {

using fictl::View;

void check_copy(const char* op, View out, View input) {
  fictl::check_device(op, "input", input);
  fictl::check_contiguous(op, "input", input);
  fictl::check_same_device(op, "out", out, "input", input);
  fictl::check_same_dtype(op, "out", out, "input", input);
  fictl::check_same_shape(op, "out", out, "input", input);
  fictl::check_contiguous(op, "out", out);
}

void unwritten(View out, View input, View scratch) {
  check_copy(__func__, out, input);
  fictl::check_same_shape(__func__, "scratch", scratch, "input", input);
  fictl::call(__func__, input, planted::planted::unwritten, out, input, scratch);
}

#define COPY(name)                                                    \
  void name(View out, View input) {                                   \
    check_copy(__func__, out, input);                                 \
    fictl::call(__func__, input, planted::planted::name, out, input); \
  }

COPY(out_of_bounds)
COPY(shared_race)
COPY(lost_threads)
COPY(spilling)
COPY(local_array)

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(out_of_bounds, out_of_bounds);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(shared_race, shared_race);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(unwritten, unwritten);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(lost_threads, lost_threads);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(spilling, spilling);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(local_array, local_array);
