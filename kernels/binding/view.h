// View: a tensor as DLPack describes it.
#pragma once

#include <binding/dtype.h>
#include <stdint.h>

namespace fictl {

// A pointer to the caller's tensor. Handles what DLPack allows: strides may be null (then the
// tensor is contiguous), and data may start at a byte offset.
class View {
 public:
  View(const DLTensor* tensor) : tensor_(tensor) {}

  int ndim() const { return tensor_->ndim; }
  DLDataType dtype() const { return tensor_->dtype; }
  DLDevice device() const { return tensor_->device; }

  // Negative dimensions count from the last.
  int64_t size(int dim) const { return tensor_->shape[dim < 0 ? dim + ndim() : dim]; }

  int64_t stride(int dim) const {
    if (dim < 0) dim += ndim();
    if (tensor_->strides != nullptr) return tensor_->strides[dim];
    int64_t stride = 1;
    for (int inner = dim + 1; inner < ndim(); ++inner) stride *= size(inner);
    return stride;
  }

  int64_t numel() const {
    int64_t count = 1;
    for (int dim = 0; dim < ndim(); ++dim) count *= size(dim);
    return count;
  }

  bool contiguous() const {
    if (tensor_->strides == nullptr) return true;
    int64_t expected = 1;
    bool dense = true;
    for (int dim = ndim() - 1; dim >= 0; --dim) {
      dense &= size(dim) == 1 || stride(dim) == expected;
      expected *= size(dim);
    }
    return dense || expected == 0;
  }

  template <typename T>
  T* data() const {
    return reinterpret_cast<T*>(static_cast<char*>(tensor_->data) + tensor_->byte_offset);
  }

 private:
  const DLTensor* tensor_;
};

inline bool same_shape(View a, View b) {
  if (a.ndim() != b.ndim()) return false;
  for (int dim = 0; dim < a.ndim(); ++dim) {
    if (a.size(dim) != b.size(dim)) return false;
  }
  return true;
}

inline bool same_device(DLDevice a, DLDevice b) {
  return a.device_type == b.device_type && a.device_id == b.device_id;
}

}  // namespace fictl
