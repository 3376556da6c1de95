#include <binding/ffi.h>

namespace fictl::sampling {
void softmax(const Launch& launch, View out, View logits, const View* temperatures,
             double temperature, bool enable_pdl);
}  // namespace fictl::sampling

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;

constexpr DLDataType kFloat{kDLFloat, 32, 1};

void check_fp32(const char* op, const char* name, View x) {
  if (fictl::same_dtype(x.dtype(), kFloat)) return;
  fictl::raise(fictl::argument_error(ErrorKind::TypeError, op, name)
               << "has dtype " << x.dtype() << "; pass it as float32");
}

void check_temperatures(const char* op, View temperature, View logits) {
  fictl::check_same_device(op, "temperature", temperature, "logits", logits);
  check_fp32(op, "temperature", temperature);
  if (temperature.ndim() != 1 || temperature.size(0) != logits.size(0)) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "temperature")
                 << "has shape " << Shape{temperature} << ", 'logits' has " << logits.size(0)
                 << " rows; pass a number, or one a row");
  }
  fictl::check_contiguous(op, "temperature", temperature);
}

void softmax(View out, View logits, tvm::ffi::Optional<View> temperatures, double temperature,
             bool enable_pdl) {
  CHECK_CUDA(logits);
  CHECK_DIM(logits, 2);
  CHECK_SAME_DEVICE(out, logits);
  check_fp32(__func__, "out", out);
  CHECK_SAME_SHAPE(out, logits);
  if (temperatures.has_value()) check_temperatures(__func__, *temperatures, logits);
  fictl::call(__func__, logits, fictl::sampling::softmax, out, logits, pointer(temperatures),
              temperature, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(softmax, softmax);
