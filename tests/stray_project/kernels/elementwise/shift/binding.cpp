// The C interface of tvm-ffi, which compiles in a tenth of the time of its C++ interface.
#include <tvm/ffi/c_api.h>

namespace stray::elementwise {

const char* shift(const DLTensor& out, const DLTensor& input, int by);

namespace {

const DLTensor& tensor(const TVMFFIAny& argument) {
  return argument.type_index == kTVMFFIDLTensorPtr ? *static_cast<DLTensor*>(argument.v_ptr)
                                                   : *TVMFFITensorGetDLTensorPtr(argument.v_obj);
}

int call(const TVMFFIAny* arguments, TVMFFIAny* result) {
  const char* error =
      shift(tensor(arguments[0]), tensor(arguments[1]), static_cast<int>(arguments[2].v_int64));
  result->type_index = kTVMFFINone;
  if (error != nullptr) TVMFFIErrorSetRaisedFromCStr("RuntimeError", error);
  return error == nullptr ? 0 : -1;
}

}  // namespace
}  // namespace stray::elementwise

#define EXPORT(name, function)                                            \
  extern "C" __attribute__((visibility("default"))) int __tvm_ffi_##name( \
      void*, const TVMFFIAny* arguments, int32_t, TVMFFIAny* result) {    \
    return function(arguments, result);                                   \
  }
#define TVM_FFI_DLL_EXPORT_TYPED_FUNC(...) EXPORT(__VA_ARGS__)

TVM_FFI_DLL_EXPORT_TYPED_FUNC(shift, stray::elementwise::call)
