#include <binding/ffi.h>

namespace fictl::sampling {
void softmax(const Launch& launch, View out, View logits, const View* temperatures,
             double temperature, bool enable_pdl);
}  // namespace fictl::sampling

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;

void check_temperatures(const char* op, View temperature, View logits) {
  fictl::check_same_device(op, "temperature", temperature, "logits", logits);
  fictl::check_dtype(op, "temperature", temperature, fictl::kFloat32);
  if (temperature.ndim() != 1 || temperature.size(0) != logits.size(0)) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "temperature")
                 << "has shape " << Shape{temperature} << ", 'logits' has " << logits.size(0)
                 << " rows; pass a number, or one a row");
  }
  fictl::check_contiguous(op, "temperature", temperature);
}

void softmax(View out, View logits, tvm::ffi::Optional<View> temperatures, double temperature,
             bool enable_pdl) {
  fictl::check_device(__func__, "logits", logits);
  fictl::check_dim(__func__, "logits", logits, 2);
  fictl::check_same_device(__func__, "out", out, "logits", logits);
  fictl::check_dtype(__func__, "out", out, fictl::kFloat32);
  fictl::check_same_shape(__func__, "out", out, "logits", logits);
  if (temperatures.has_value()) check_temperatures(__func__, *temperatures, logits);
  fictl::call(__func__, logits, fictl::sampling::softmax, out, logits, pointer(temperatures),
              temperature, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(softmax, softmax);
