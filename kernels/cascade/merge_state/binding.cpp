#include <binding/ffi.h>

namespace fictl::cascade {
void merge_state(const Launch& launch, View v_merged, View s_merged, View v_a, View s_a, View v_b,
                 View s_b, bool enable_pdl);
void merge_state_in_place(const Launch& launch, View v, View s, View v_other, View s_other,
                          const View* mask, bool enable_pdl);
void merge_states(const Launch& launch, View v_merged, View s_merged, View v, View s,
                  bool enable_pdl);
}  // namespace fictl::cascade

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;

// The log-sum-exp of each row of v: float32, of v's shape without the last dimension.
void check_s(const char* op, const char* name, View s, const char* v_name, View v) {
  fictl::check_same_device(op, name, s, v_name, v);
  fictl::check_dtype(op, name, s, fictl::kFloat32);
  bool fits = s.ndim() == v.ndim() - 1;
  for (int dim = 0; fits && dim < s.ndim(); ++dim) fits = s.size(dim) == v.size(dim);
  if (!fits) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, name)
                 << "has shape " << Shape{s} << ", '" << v_name << "' has " << Shape{v}
                 << ": it is one number for each row of " << v_name);
  }
  fictl::check_contiguous(op, name, s);
}

// The first v of a call: `ndim` dimensions, the last of them not empty.
void check_heads(const char* op, const char* name, View v, int ndim) {
  fictl::check_device(op, name, v);
  fictl::check_dim(op, name, v, ndim);
  if (v.size(-1) > 0) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, name)
               << "has shape " << Shape{v} << ": a head has no values");
}

// Another v: same device, dtype and shape.
void check_v(const char* op, const char* name, View v, const char* like_name, View like) {
  fictl::check_same_device(op, name, v, like_name, like);
  fictl::check_same_dtype(op, name, v, like_name, like);
  fictl::check_same_shape(op, name, v, like_name, like);
}

void check_mask(const char* op, View mask, View v) {
  fictl::check_same_device(op, "mask", mask, "v", v);
  fictl::check_dtype(op, "mask", mask, {fictl::kBool, fictl::kUInt8});
  if (mask.ndim() != 1 || mask.size(0) != v.size(0)) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "mask")
                 << "has shape " << Shape{mask} << ", 'v' has " << v.size(0) << " positions");
  }
  fictl::check_contiguous(op, "mask", mask);
}

void check_merged(const char* op, View v_merged, View v) {
  fictl::check_same_device(op, "v_merged", v_merged, "v", v);
  fictl::check_same_dtype(op, "v_merged", v_merged, "v", v);
  const bool fits = v_merged.ndim() == 3 && v_merged.size(0) == v.size(0) &&
                    v_merged.size(1) == v.size(2) && v_merged.size(2) == v.size(3);
  if (fits) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "v_merged")
               << "has shape " << Shape{v_merged} << ", 'v' has " << Shape{v}
               << ": it is (positions, heads, head_dim) of v's (positions, states, heads, "
                  "head_dim)");
}

void merge_state(View v_merged, View s_merged, View v_a, View s_a, View v_b, View s_b,
                 bool enable_pdl) {
  check_heads(__func__, "v_a", v_a, 3);
  check_s(__func__, "s_a", s_a, "v_a", v_a);
  check_v(__func__, "v_b", v_b, "v_a", v_a);
  check_s(__func__, "s_b", s_b, "v_b", v_b);
  check_v(__func__, "v_merged", v_merged, "v_a", v_a);
  check_s(__func__, "s_merged", s_merged, "v_merged", v_merged);
  fictl::call(__func__, v_a, fictl::cascade::merge_state, v_merged, s_merged, v_a, s_a, v_b, s_b,
              enable_pdl);
}

void merge_state_in_place(View v, View s, View v_other, View s_other, tvm::ffi::Optional<View> mask,
                          bool enable_pdl) {
  check_heads(__func__, "v", v, 3);
  check_s(__func__, "s", s, "v", v);
  check_v(__func__, "v_other", v_other, "v", v);
  check_s(__func__, "s_other", s_other, "v_other", v_other);
  if (mask.has_value()) check_mask(__func__, *mask, v);
  fictl::call(__func__, v, fictl::cascade::merge_state_in_place, v, s, v_other, s_other,
              pointer(mask), enable_pdl);
}

void merge_states(View v_merged, View s_merged, View v, View s, bool enable_pdl) {
  check_heads(__func__, "v", v, 4);
  check_s(__func__, "s", s, "v", v);
  check_merged(__func__, v_merged, v);
  check_s(__func__, "s_merged", s_merged, "v_merged", v_merged);
  fictl::call(__func__, v, fictl::cascade::merge_states, v_merged, s_merged, v, s, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(merge_state, merge_state);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(merge_state_in_place, merge_state_in_place);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(merge_states, merge_states);
