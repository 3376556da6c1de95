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

#define CHECK_COPY()               \
  do {                             \
    CHECK_INPUT(input);            \
    CHECK_SAME_DEVICE(out, input); \
    CHECK_SAME_DTYPE(out, input);  \
    CHECK_SAME_SHAPE(out, input);  \
    CHECK_CONTIGUOUS(out);         \
  } while (false)

void unwritten(View out, View input, View scratch) {
  CHECK_COPY();
  CHECK_SAME_SHAPE(scratch, input);
  fictl::call(__func__, input, planted::planted::unwritten, out, input, scratch);
}

#define COPY(name)                                                    \
  void name(View out, View input) {                                   \
    CHECK_COPY();                                                     \
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
