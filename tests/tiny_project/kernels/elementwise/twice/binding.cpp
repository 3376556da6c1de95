// The C interface of tvm-ffi, which compiles in a tenth of the time of its C++ interface.
#include <tvm/ffi/c_api.h>

namespace tiny::elementwise {
int twice(int value);
}

#define EXPORT(name, function)                                            \
  extern "C" __attribute__((visibility("default"))) int __tvm_ffi_##name( \
      void*, const TVMFFIAny* arguments, int32_t, TVMFFIAny* result) {    \
    result->type_index = kTVMFFIInt;                                      \
    result->v_int64 = function(static_cast<int>(arguments[0].v_int64));   \
    return 0;                                                             \
  }
#define TVM_FFI_DLL_EXPORT_TYPED_FUNC(...) EXPORT(__VA_ARGS__)

TVM_FFI_DLL_EXPORT_TYPED_FUNC(twice, tiny::elementwise::twice)
