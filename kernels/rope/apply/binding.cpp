#include <binding/ffi.h>

#include <cmath>

namespace fictl::rope {
void apply_segments(const Launch& launch, View q, View k, View q_out, View k_out, View indptr,
                    View offsets, int64_t rotary_dim, bool interleave, double scale, double theta,
                    double low_factor, double high_factor, double old_context, bool enable_pdl);
void apply_pos_ids(const Launch& launch, View q, View k, View q_out, View k_out, View pos_ids,
                   int64_t rotary_dim, bool interleave, double scale, double theta,
                   double low_factor, double high_factor, double old_context, bool enable_pdl);
void apply_table(const Launch& launch, View positions, View query, View key, View q_out, View k_out,
                 int64_t head_size, View cos_sin_cache, bool interleave, bool enable_pdl);
}  // namespace fictl::rope

namespace {

using fictl::argument_error;
using fictl::ErrorKind;
using fictl::raise;
using fictl::Shape;
using fictl::View;

constexpr int64_t kMaxRotaryDim = 512;

struct Named {
  const char* name;
  View tensor;
};

// The tensors of a rotation, with the names that the op gives them.
struct Rotated {
  Named q;
  Named k;
  Named q_out;
  Named k_out;
};

void check_dims(const char* op, const Named& x, bool flat_too) {
  if (x.tensor.ndim() == 3 || (flat_too && x.tensor.ndim() == 2)) return;
  raise(argument_error(ErrorKind::ValueError, op, x.name)
        << "has shape " << Shape{x.tensor} << "; pass it as (tokens, heads, head_dim)"
        << (flat_too ? " or (tokens, heads * head_size)" : ""));
}

void check_pair(const char* op, const Named& x, const Named& out, const Named& first,
                bool flat_too) {
  fictl::check_device(op, x.name, x.tensor);
  fictl::check_same_device(op, x.name, x.tensor, first.name, first.tensor);
  fictl::check_same_device(op, out.name, out.tensor, x.name, x.tensor);
  fictl::check_same_dtype(op, x.name, x.tensor, first.name, first.tensor);
  fictl::check_same_dtype(op, out.name, out.tensor, x.name, x.tensor);
  check_dims(op, x, flat_too);
  fictl::check_same_shape(op, out.name, out.tensor, x.name, x.tensor);
  fictl::check_last_dim_contiguous(op, x.name, x.tensor);
  fictl::check_last_dim_contiguous(op, out.name, out.tensor);
  fictl::check_no_overlap(op, out.name, out.tensor);
}

void check_rotated(const char* op, const Rotated& x, bool flat_too = false) {
  check_pair(op, x.q, x.q_out, x.q, flat_too);
  check_pair(op, x.k, x.k_out, x.q, flat_too);
  if (x.k.tensor.size(0) == x.q.tensor.size(0)) return;
  raise(argument_error(ErrorKind::ValueError, op, x.k.name)
        << "has " << x.k.tensor.size(0) << " tokens, '" << x.q.name << "' has "
        << x.q.tensor.size(0));
}

// The last dimension is a head, or with 2 dimensions, all heads of a token.
void check_head(const char* op, const Named& x, int64_t head_dim) {
  const int64_t size = x.tensor.size(-1);
  if (x.tensor.ndim() == 3 ? size == head_dim : size % head_dim == 0) return;
  raise(argument_error(ErrorKind::ValueError, op, x.name)
        << "has shape " << Shape{x.tensor} << ", which is not of heads of " << head_dim
        << " values");
}

void check_rotary_dim(const char* op, const char* name, int64_t rotary_dim, int64_t head_dim) {
  if (rotary_dim >= 0 && rotary_dim % 2 == 0 && rotary_dim <= head_dim &&
      rotary_dim <= kMaxRotaryDim) {
    return;
  }
  raise(argument_error(ErrorKind::ValueError, op, name)
        << "says to rotate " << rotary_dim << " values of " << head_dim
        << "; it is an even number of them, at most " << kMaxRotaryDim);
}

void check_positive(const char* op, const char* name, double value) {
  if (value > 0 && std::isfinite(value)) return;
  raise(argument_error(ErrorKind::ValueError, op, name)
        << "is " << value << "; pass a positive number");
}

void check_on_device_of(const char* op, const Named& x, const Named& q) {
  fictl::check_device(op, x.name, x.tensor);
  fictl::check_same_device(op, x.name, x.tensor, q.name, q.tensor);
}

// The parameters of a model's rotary embedding; with an old context, Llama 3.1's.
struct Frequency {
  int64_t rotary_dim;
  bool interleave;
  double scale;
  double theta;
  double low_factor = 0;
  double high_factor = 0;
  double old_context = 0;
};

void check_frequency(const char* op, const Frequency& f, int64_t head_dim) {
  check_rotary_dim(op, "rotary_dim", f.rotary_dim, head_dim);
  check_positive(op, "rope_scale", f.scale);
  check_positive(op, "rope_theta", f.theta);
}

Frequency llama31(const char* op, const Frequency& f) {
  check_positive(op, "old_context_len", f.old_context);
  if (f.high_factor > f.low_factor) return f;
  raise(argument_error(ErrorKind::ValueError, op, "high_freq_factor")
        << "is " << f.high_factor << ", low_freq_factor " << f.low_factor << "; pass a larger one");
}

void segments(const char* op, const Rotated& x, View indptr, View offsets, const Frequency& f,
              bool enable_pdl) {
  const View q = x.q.tensor;
  check_rotated(op, x);
  check_head(op, x.k, q.size(-1));
  check_on_device_of(op, {"indptr", indptr}, x.q);
  check_on_device_of(op, {"offsets", offsets}, x.q);
  fictl::check_dim(op, "offsets", offsets, 1);
  check_frequency(op, f, q.size(-1));
  fictl::call(op, q, fictl::rope::apply_segments, q, x.k.tensor, x.q_out.tensor, x.k_out.tensor,
              indptr, offsets, f.rotary_dim, f.interleave, f.scale, f.theta, f.low_factor,
              f.high_factor, f.old_context, enable_pdl);
}

void pos_ids(const char* op, const Rotated& x, View pos_ids, const Frequency& f, bool enable_pdl) {
  const View q = x.q.tensor;
  check_rotated(op, x);
  check_head(op, x.k, q.size(-1));
  check_on_device_of(op, {"pos_ids", pos_ids}, x.q);
  check_frequency(op, f, q.size(-1));
  fictl::call(op, q, fictl::rope::apply_pos_ids, q, x.k.tensor, x.q_out.tensor, x.k_out.tensor,
              pos_ids, f.rotary_dim, f.interleave, f.scale, f.theta, f.low_factor, f.high_factor,
              f.old_context, enable_pdl);
}

void table(const char* op, View positions, const Rotated& x, int64_t head_size, View cos_sin_cache,
           bool is_neox, bool enable_pdl) {
  fictl::check_device(op, "positions", positions);
  check_rotated(op, x, /*flat_too=*/true);
  if (head_size <= 0) {
    raise(argument_error(ErrorKind::ValueError, op, "head_size") << "is " << head_size);
  }
  check_head(op, x.q, head_size);
  check_head(op, x.k, head_size);
  check_on_device_of(op, {"positions", positions}, x.q);
  check_on_device_of(op, {"cos_sin_cache", cos_sin_cache}, x.q);
  fictl::check_dtype(op, "cos_sin_cache", cos_sin_cache, fictl::kFloat32);
  fictl::check_dim(op, "cos_sin_cache", cos_sin_cache, 2);
  fictl::check_contiguous(op, "cos_sin_cache", cos_sin_cache);
  check_rotary_dim(op, "cos_sin_cache", cos_sin_cache.size(1), head_size);
  fictl::call(op, x.q.tensor, fictl::rope::apply_table, positions, x.q.tensor, x.k.tensor,
              x.q_out.tensor, x.k_out.tensor, head_size, cos_sin_cache, !is_neox, enable_pdl);
}

Rotated in_place(View q, View k) { return {{"q", q}, {"k", k}, {"q", q}, {"k", k}}; }

Rotated into(View q, View k, View q_out, View k_out) {
  return {{"q", q}, {"k", k}, {"q_out", q_out}, {"k_out", k_out}};
}

void apply_rope(View q, View k, View q_out, View k_out, View indptr, View offsets,
                int64_t rotary_dim, bool interleave, double scale, double theta, bool enable_pdl) {
  segments(__func__, into(q, k, q_out, k_out), indptr, offsets,
           {rotary_dim, interleave, scale, theta}, enable_pdl);
}

void apply_rope_inplace(View q, View k, View indptr, View offsets, int64_t rotary_dim,
                        bool interleave, double scale, double theta, bool enable_pdl) {
  segments(__func__, in_place(q, k), indptr, offsets, {rotary_dim, interleave, scale, theta},
           enable_pdl);
}

void apply_rope_pos_ids(View q, View k, View q_out, View k_out, View ids, int64_t rotary_dim,
                        bool interleave, double scale, double theta, bool enable_pdl) {
  pos_ids(__func__, into(q, k, q_out, k_out), ids, {rotary_dim, interleave, scale, theta},
          enable_pdl);
}

void apply_rope_pos_ids_inplace(View q, View k, View ids, int64_t rotary_dim, bool interleave,
                                double scale, double theta, bool enable_pdl) {
  pos_ids(__func__, in_place(q, k), ids, {rotary_dim, interleave, scale, theta}, enable_pdl);
}

void apply_llama31_rope(View q, View k, View q_out, View k_out, View indptr, View offsets,
                        int64_t rotary_dim, bool interleave, double scale, double theta, double low,
                        double high, double context, bool enable_pdl) {
  const Frequency frequency =
      llama31(__func__, {rotary_dim, interleave, scale, theta, low, high, context});
  segments(__func__, into(q, k, q_out, k_out), indptr, offsets, frequency, enable_pdl);
}

void apply_llama31_rope_inplace(View q, View k, View indptr, View offsets, int64_t rotary_dim,
                                bool interleave, double scale, double theta, double low,
                                double high, double context, bool enable_pdl) {
  const Frequency frequency =
      llama31(__func__, {rotary_dim, interleave, scale, theta, low, high, context});
  segments(__func__, in_place(q, k), indptr, offsets, frequency, enable_pdl);
}

void apply_llama31_rope_pos_ids(View q, View k, View q_out, View k_out, View ids,
                                int64_t rotary_dim, bool interleave, double scale, double theta,
                                double low, double high, double context, bool enable_pdl) {
  const Frequency frequency =
      llama31(__func__, {rotary_dim, interleave, scale, theta, low, high, context});
  pos_ids(__func__, into(q, k, q_out, k_out), ids, frequency, enable_pdl);
}

void apply_llama31_rope_pos_ids_inplace(View q, View k, View ids, int64_t rotary_dim,
                                        bool interleave, double scale, double theta, double low,
                                        double high, double context, bool enable_pdl) {
  const Frequency frequency =
      llama31(__func__, {rotary_dim, interleave, scale, theta, low, high, context});
  pos_ids(__func__, in_place(q, k), ids, frequency, enable_pdl);
}

void apply_rope_with_cos_sin_cache(View positions, View query, View key, View q_out, View k_out,
                                   int64_t head_size, View cos_sin_cache, bool is_neox,
                                   bool enable_pdl) {
  table(__func__, positions, {{"query", query}, {"key", key}, {"q_out", q_out}, {"k_out", k_out}},
        head_size, cos_sin_cache, is_neox, enable_pdl);
}

void apply_rope_with_cos_sin_cache_inplace(View positions, View query, View key, int64_t head_size,
                                           View cos_sin_cache, bool is_neox, bool enable_pdl) {
  table(__func__, positions, {{"query", query}, {"key", key}, {"query", query}, {"key", key}},
        head_size, cos_sin_cache, is_neox, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(apply_rope, apply_rope);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(apply_rope_inplace, apply_rope_inplace);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(apply_rope_pos_ids, apply_rope_pos_ids);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(apply_rope_pos_ids_inplace, apply_rope_pos_ids_inplace);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(apply_llama31_rope, apply_llama31_rope);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(apply_llama31_rope_inplace, apply_llama31_rope_inplace);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(apply_llama31_rope_pos_ids, apply_llama31_rope_pos_ids);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(apply_llama31_rope_pos_ids_inplace,
                              apply_llama31_rope_pos_ids_inplace);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(apply_rope_with_cos_sin_cache, apply_rope_with_cos_sin_cache);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(apply_rope_with_cos_sin_cache_inplace,
                              apply_rope_with_cos_sin_cache_inplace);
