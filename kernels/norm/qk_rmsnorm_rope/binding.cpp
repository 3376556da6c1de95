#include <binding/ffi.h>

#include <fictl/norm/qk_rope_arguments.cuh>

namespace fictl::norm {
void fused_qk_rmsnorm_rope(const Launch& launch, View q_out, View k_out, View v_out, View qkv,
                           View q_weight, View k_weight, const QKRopeShape& shape,
                           const QKRopeAngles& angles, const QKRopeNorm& norm, bool enable_pdl);
}

namespace {

using fictl::Error;
using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;
using fictl::norm::kQKRopeMaxHidden;
using fictl::norm::QKRopeAngles;
using fictl::norm::QKRopeNorm;
using fictl::norm::QKRopeShape;

constexpr int kVecBytes = 16;
constexpr const char* kHeadsNames[] = {"num_heads_q", "num_heads_k", "num_heads_v"};
constexpr const char* kPatchesNames[] = {"ppf", "pph", "ppw"};
constexpr const char* kChannelsNames[] = {"num_frame_channels", "num_height_channels",
                                          "num_width_channels"};

Error wrong_value(const char* op, const char* name) {
  return fictl::argument_error(ErrorKind::ValueError, op, name);
}

void check_heads(const char* op, const QKRopeShape& shape) {
  const int64_t dim = shape.head_dim;
  if (dim != 64 && dim != 128 && dim != 256) {
    fictl::raise(fictl::argument_error(ErrorKind::NotImplementedError, op, "head_dim")
                 << "is " << dim << "; accepted: 64, 128, 256");
  }
  for (int i = 0; i < 3; ++i) {
    const int64_t most = kQKRopeMaxHidden / dim;
    if (shape.heads[i] >= 0 && shape.heads[i] <= most) continue;
    fictl::raise(wrong_value(op, kHeadsNames[i]) << "is " << shape.heads[i] << "; accepted: 0 to "
                                                 << most << " heads of " << dim << " elements");
  }
}

void check_channels(const char* op, const QKRopeShape& shape) {
  int64_t sum = 0;
  for (int i = 0; i < 3; ++i) {
    const int64_t channels = shape.channels[i];
    if (channels < 0 || channels > shape.head_dim || channels % 2 != 0) {
      fictl::raise(wrong_value(op, kChannelsNames[i])
                   << "is " << channels
                   << "; channels turn in pairs: pass an even number from 0 to "
                   << "head_dim, which is " << shape.head_dim);
    }
    sum += channels;
  }
  if (sum == shape.head_dim) return;
  fictl::raise(wrong_value(op, "num_frame_channels")
               << "is " << shape.channels[0] << ": with num_height_channels, " << shape.channels[1]
               << ", and num_width_channels, " << shape.channels[2] << ", that makes " << sum
               << " and not head_dim, " << shape.head_dim);
}

void check_patches(const char* op, View qkv, const QKRopeShape& shape) {
  for (int i = 0; i < 3; ++i) {
    if (shape.patches[i] > 0 && shape.patches[i] <= INT16_MAX) continue;
    fictl::raise(wrong_value(op, kPatchesNames[i])
                 << "is " << shape.patches[i] << "; accepted: 1 to " << INT16_MAX);
  }
  const int64_t of_video = shape.patches_of_video();
  const bool fits = qkv.ndim() == 3 ? qkv.size(1) == of_video : shape.tokens % of_video == 0;
  if (fits) return;
  fictl::raise(wrong_value(op, "qkv")
               << "has shape " << Shape{qkv} << ", a video ppf * pph * ppw = " << of_video
               << " tokens; pass (videos, " << of_video << ", …) or (videos * " << of_video
               << ", …)");
}

void check_qkv(const char* op, View qkv, const QKRopeShape& shape) {
  const int64_t hidden = shape.heads_of_token() * shape.head_dim;
  if (qkv.size(-1) != hidden) {
    fictl::raise(wrong_value(op, "qkv")
                 << "has shape " << Shape{qkv} << "; a token of " << shape.heads_of_token()
                 << " heads of " << shape.head_dim << " has " << hidden << " elements");
  }
  constexpr int64_t kMostTokens = INT32_MAX / 3;
  if (shape.tokens <= kMostTokens) return;
  fictl::raise(wrong_value(op, "qkv") << "has " << shape.tokens << " tokens; pass at most "
                                      << kMostTokens << " at a time");
}

void check_weight(const char* op, const char* name, View weight, View qkv, int64_t heads,
                  int64_t head_dim) {
  fictl::check_same_device(op, name, weight, "qkv", qkv);
  fictl::check_same_dtype(op, name, weight, "qkv", qkv);
  if (weight.numel() != heads * head_dim) {
    fictl::raise(wrong_value(op, name)
                 << "has shape " << Shape{weight} << "; " << heads << " heads of " << head_dim
                 << " have " << heads * head_dim << " weights");
  }
  fictl::check_contiguous(op, name, weight);
  fictl::check_aligned(op, name, weight, kVecBytes);
}

bool is_output_shape(View out, View qkv, int64_t heads, int64_t head_dim) {
  const int ndim = qkv.ndim() + 1;
  if (out.ndim() != ndim || out.size(-2) != heads || out.size(-1) != head_dim) return false;
  return out.size(0) == qkv.size(0) && (ndim == 3 || out.size(1) == qkv.size(1));
}

void check_output(const char* op, const char* name, View out, View qkv, int64_t heads,
                  int64_t head_dim, bool fp8) {
  fictl::check_same_device(op, name, out, "qkv", qkv);
  const DLDataType wanted = fp8 ? fictl::kFloat8E4M3 : qkv.dtype();
  if (!fictl::same_dtype(out.dtype(), wanted)) {
    fictl::raise(fictl::argument_error(ErrorKind::TypeError, op, name)
                 << "has dtype " << out.dtype() << "; with output_fp8=" << (fp8 ? "True" : "False")
                 << " it is " << wanted);
  }
  if (!is_output_shape(out, qkv, heads, head_dim)) {
    fictl::raise(wrong_value(op, name)
                 << "has shape " << Shape{out} << ", 'qkv' has " << Shape{qkv}
                 << "; it has qkv's tokens in " << heads << " heads of " << head_dim);
  }
  fictl::check_contiguous(op, name, out);
  fictl::check_aligned(op, name, out, kVecBytes);
}

void check_angles(const char* op, const QKRopeAngles& angles) {
  if (!(angles.base > 0)) {
    fictl::raise(wrong_value(op, "base") << "is " << angles.base << "; it is a positive number");
  }
  if (!(angles.factor > 0)) {
    fictl::raise(wrong_value(op, "factor")
                 << "is " << angles.factor << "; it is a positive number, 1 without YARN");
  }
  if (angles.factor != 1 || angles.attention_factor == 1) return;
  fictl::raise(wrong_value(op, "attention_factor")
               << "is " << angles.attention_factor << "; without YARN, where factor is 1, it is 1");
}

void fused_qk_rmsnorm_rope(View q_out, View k_out, View v_out, View qkv, View q_weight,
                           View k_weight, int64_t ppf, int64_t pph, int64_t ppw,
                           int64_t num_frame_channels, int64_t num_height_channels,
                           int64_t num_width_channels, int64_t num_heads_q, int64_t num_heads_k,
                           int64_t num_heads_v, int64_t head_dim, double eps, double base,
                           bool interleave, double factor, double low, double high,
                           double attention_factor, bool is_qk_norm, bool output_fp8,
                           double output_quant_scale, double v_quant_scale, bool enable_pdl) {
  fictl::check_device(__func__, "qkv", qkv);
  if (qkv.ndim() != 2 && qkv.ndim() != 3) {
    fictl::raise(wrong_value(__func__, "qkv")
                 << "has shape " << Shape{qkv}
                 << "; pass it as (tokens, hidden) or (videos, tokens, hidden)");
  }
  const int64_t tokens = qkv.size(0) * (qkv.ndim() == 3 ? qkv.size(1) : 1);
  const QKRopeShape shape{tokens,
                          {num_heads_q, num_heads_k, num_heads_v},
                          head_dim,
                          {num_frame_channels, num_height_channels, num_width_channels},
                          {ppf, pph, ppw}};
  const QKRopeAngles angles{interleave, base, factor, low, high, attention_factor};
  const QKRopeNorm norm{is_qk_norm, eps, output_fp8 ? output_quant_scale : 1, v_quant_scale};
  check_heads(__func__, shape);
  check_channels(__func__, shape);
  check_patches(__func__, qkv, shape);
  check_qkv(__func__, qkv, shape);
  fictl::check_contiguous(__func__, "qkv", qkv);
  fictl::check_aligned(__func__, "qkv", qkv, kVecBytes);
  check_weight(__func__, "q_weight", q_weight, qkv, num_heads_q, head_dim);
  check_weight(__func__, "k_weight", k_weight, qkv, num_heads_k, head_dim);
  check_output(__func__, "q_out", q_out, qkv, num_heads_q, head_dim, output_fp8);
  check_output(__func__, "k_out", k_out, qkv, num_heads_k, head_dim, output_fp8);
  check_output(__func__, "v_out", v_out, qkv, num_heads_v, head_dim, output_fp8);
  check_angles(__func__, angles);
  fictl::call(__func__, qkv, fictl::norm::fused_qk_rmsnorm_rope, q_out, k_out, v_out, qkv, q_weight,
              k_weight, shape, angles, norm, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(fused_qk_rmsnorm_rope, fused_qk_rmsnorm_rope);
