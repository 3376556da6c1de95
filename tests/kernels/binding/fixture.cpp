// One exported function per check, dispatch and view property; the tests call them from Python.
// Built twice: as modules for CUDA are, and as modules for the emulated device are (FICTL_EMU).
#include <binding/ffi.h>
#include <binding/rows.h>
#include <binding/tensor_map.h>

#include <fictl/device/element.cuh>

namespace {

using fictl::Launch;
using fictl::Rows;
using fictl::View;

const Launch kLaunch{nullptr, 0, 0, false, "attend"};

// A tensor that no framework would hand over: of any device, without strides, at an offset.
struct BareTensor {
  int64_t shape[3] = {2, 3, 4};
  DLTensor tensor = {};

  explicit BareTensor(DLDevice device = {kDLCPU, 0}, void* data = nullptr, int64_t offset = 0) {
    tensor.data = data;
    tensor.device = device;
    tensor.ndim = 3;
    tensor.dtype = {kDLFloat, 32, 1};
    tensor.shape = shape;
    tensor.byte_offset = offset;
  }
};

void check_device(View weight) { fictl::check_device(__func__, "weight", weight); }
void check_contiguous(View weight) { fictl::check_contiguous(__func__, "weight", weight); }
void check_last_dim_contiguous(View weight) {
  fictl::check_last_dim_contiguous(__func__, "weight", weight);
}
void check_no_overlap(View out) { fictl::check_no_overlap(__func__, "out", out); }
void check_aligned(View weight) { fictl::check_aligned(__func__, "weight", weight, 16); }
void check_dim(View weight, int ndim) { fictl::check_dim(__func__, "weight", weight, ndim); }
void check_dtype(View weight) {
  fictl::check_dtype(__func__, "weight", weight, {fictl::kInt32, fictl::kInt64});
}
void check_same_shape(View out, View input) {
  fictl::check_same_shape(__func__, "out", out, "input", input);
}
void check_same_dtype(View out, View input) {
  fictl::check_same_dtype(__func__, "out", out, "input", input);
}

// Of a matrix of floats, in boxes of 8 x 32.
void tensor_map(View weight, int64_t rows, int64_t cols, int64_t pitch) {
  const auto matrix = fictl::device::TensorMapSpec::of(weight.data<const float>());
  const auto spec = matrix.with(cols, 1, 32).with(rows, pitch, 8);
  fictl::translate([&] { return fictl::tensor_map(kLaunch, "weight", spec); });
}

void check_device_of_type(int type, int id) {
  const BareTensor bare({static_cast<DLDeviceType>(type), id});
  const View weight(&bare.tensor);
  fictl::check_device(__func__, "weight", weight);
}

void check_same_device(View out, int type, int id) {
  const BareTensor bare({static_cast<DLDeviceType>(type), id});
  const View input(&bare.tensor);
  fictl::check_same_device(__func__, "out", out, "input", input);
}

// The size of the type that was dispatched to.
int64_t dispatch_dtype(View weight) {
  int64_t seen = 0;
  fictl::translate(
      [&] { DISPATCH_DTYPE(kLaunch, weight, T, (__half, float, int64_t), { seen = sizeof(T); }); });
  return seen;
}

int64_t dispatch_int(int64_t head_dim) {
  int64_t seen = 0;
  fictl::translate([&] {
    DISPATCH_INT(kLaunch, head_dim, kHeadDim, (64, 128, 256), {
      static_assert(kHeadDim % 64 == 0);
      seen = kHeadDim;
    });
  });
  return seen;
}

int64_t dispatch_bool(bool causal) {
  int64_t seen = -1;
  fictl::translate([&] { DISPATCH_BOOL(kLaunch, causal, kCausal, seen = kCausal ? 1 : 0); });
  return seen;
}

int64_t dispatch_nested(View weight, int64_t head_dim) {
  int64_t seen = 0;
  fictl::translate([&] {
    DISPATCH_DTYPE(kLaunch, weight, T, (__half, float), {
      DISPATCH_INT(kLaunch, head_dim, kHeadDim, (64, 128), seen = sizeof(T) * kHeadDim);
    });
  });
  return seen;
}

void cuda_status(int status) {
  fictl::translate([&] { CUDA_CHECK(kLaunch, static_cast<cudaError_t>(status)); });
}

void launcher(const Launch& launch, View result) { result.data<int64_t>()[0] = launch.sm_count; }

void call(View result) { fictl::call(__func__, result, launcher, result); }

void throw_long_text() {
  fictl::translate([] {
    fictl::Error error(fictl::ErrorKind::ValueError);
    for (int i = 0; i < 1000; ++i) error << i << " ";
    throw error;
  });
}

int64_t stride_without_strides(int dim) {
  const BareTensor bare;
  return View(&bare.tensor).stride(dim);
}

bool contiguous_without_strides() {
  const BareTensor bare;
  return View(&bare.tensor).contiguous();
}

int64_t first_at_offset(int64_t offset) {
  int64_t data[] = {10, 11, 12};
  const BareTensor bare({kDLCPU, 0}, data, offset * static_cast<int64_t>(sizeof(int64_t)));
  return *View(&bare.tensor).data<int64_t>();
}

bool contiguous(View x) { return x.contiguous(); }
int64_t size(View x, int dim) { return x.size(dim); }
int64_t stride(View x, int dim) { return x.stride(dim); }
int64_t numel(View x) { return x.numel(); }

// Writes rows, cols and the pitches to `result`.
template <int N>
void write(const Rows<N>& rows, View result) {
  int64_t* to = result.data<int64_t>();
  *to++ = rows.rows;
  *to++ = rows.cols;
  for (int64_t pitch : rows.pitch) *to++ = pitch;
}

void collapse(View out, View input, View result) {
  fictl::translate([&] { write(COLLAPSE(kLaunch, out, input), result); });
}

void collapse_three(View out, View x, View y, View result) {
  fictl::translate([&] { write(COLLAPSE(kLaunch, out, x, y), result); });
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(check_device, check_device);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(check_contiguous, check_contiguous);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(check_last_dim_contiguous, check_last_dim_contiguous);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(check_no_overlap, check_no_overlap);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(check_aligned, check_aligned);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(check_dtype, check_dtype);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(check_dim, check_dim);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(check_same_shape, check_same_shape);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(check_same_dtype, check_same_dtype);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(tensor_map, tensor_map);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(check_device_of_type, check_device_of_type);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(check_same_device, check_same_device);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(dispatch_dtype, dispatch_dtype);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(dispatch_int, dispatch_int);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(dispatch_bool, dispatch_bool);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(dispatch_nested, dispatch_nested);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(cuda_status, cuda_status);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(call, call);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(throw_long_text, throw_long_text);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(stride_without_strides, stride_without_strides);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(contiguous_without_strides, contiguous_without_strides);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(first_at_offset, first_at_offset);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(contiguous, contiguous);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(size, size);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(stride, stride);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(numel, numel);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(collapse, collapse);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(collapse_three, collapse_three);
