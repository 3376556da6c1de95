#include <binding/ffi.h>

namespace fictl::quantization {
void packbits(const Launch& launch, View out, View x, bool big, bool enable_pdl);
void segment_packbits(const Launch& launch, View out, View out_indptr, View x, View indptr,
                      bool big, bool enable_pdl);
}  // namespace fictl::quantization

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;

bool is_big(const char* op, const std::string& bitorder) {
  const bool big = bitorder == "big";
  if (big || bitorder == "little") return big;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "bitorder")
               << "is '" << bitorder.c_str() << "'; accepted: 'big', 'little'");
}

// One-dimensional, contiguous, of the dtype.
void check_array(const char* op, const char* name, View array, DLDataType dtype) {
  fictl::check_dim(op, name, array, 1);
  fictl::check_contiguous(op, name, array);
  fictl::check_dtype(op, name, array, dtype);
}

void check_size(const char* op, const char* name, View array, int64_t wanted) {
  if (array.size(0) == wanted) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, name)
               << "has " << array.size(0) << " elements; expected " << wanted);
}

void check_starts(const char* op, View indptr) {
  fictl::check_dim(op, "indptr", indptr, 1);
  fictl::check_contiguous(op, "indptr", indptr);
  if (indptr.size(0) > 0) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "indptr")
               << "has shape " << Shape{indptr}
               << "; it says where each segment starts, and where the last one ends");
}

void packbits(View out, View x, std::string bitorder, bool enable_pdl) {
  fictl::check_device(__func__, "x", x);
  fictl::check_same_device(__func__, "out", out, "x", x);
  check_array(__func__, "x", x, fictl::kBool);
  check_array(__func__, "out", out, fictl::kUInt8);
  check_size(__func__, "out", out, (x.size(0) + 7) / 8);
  const bool big = is_big(__func__, bitorder);
  fictl::call(__func__, x, fictl::quantization::packbits, out, x, big, enable_pdl);
}

void segment_packbits(View out, View out_indptr, View x, View indptr, std::string bitorder,
                      bool enable_pdl) {
  fictl::check_device(__func__, "x", x);
  fictl::check_same_device(__func__, "indptr", indptr, "x", x);
  fictl::check_same_device(__func__, "out", out, "x", x);
  fictl::check_same_device(__func__, "out_indptr", out_indptr, "x", x);
  check_array(__func__, "x", x, fictl::kBool);
  check_starts(__func__, indptr);
  check_array(__func__, "out", out, fictl::kUInt8);
  check_array(__func__, "out_indptr", out_indptr, fictl::kInt32);
  check_size(__func__, "out_indptr", out_indptr, indptr.size(0));
  const bool big = is_big(__func__, bitorder);
  fictl::call(__func__, x, fictl::quantization::segment_packbits, out, out_indptr, x, indptr, big,
              enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(packbits, packbits);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(segment_packbits, segment_packbits);
