#include <binding/ffi.h>

namespace fictl::sampling {
void chain_speculative_sampling(const Launch& launch, View out, View accepted, View emitted,
                                View draft_probs, View draft_token_ids, View target_probs,
                                bool adds_accepted, bool adds_emitted, const View* seeds,
                                const View* offsets, int64_t seed, int64_t offset, bool enable_pdl);
}  // namespace fictl::sampling

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;

// A tensor on the device of target_probs, of the expected sizes.
void check_shape(const char* op, const char* name, View x, std::vector<int64_t> expected,
                 const char* axes, View target) {
  fictl::check_same_device(op, name, x, "target_probs", target);
  bool fits = x.ndim() == static_cast<int>(expected.size());
  for (int dim = 0; fits && dim < x.ndim(); ++dim) fits = x.size(dim) == expected[dim];
  if (fits) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, name)
               << "has shape " << Shape{x} << ", 'target_probs' has " << Shape{target} << ": it is "
               << axes << " of target_probs' (requests, drafts + 1, vocab)");
}

void check_target(const char* op, View target) {
  fictl::check_device(op, "target_probs", target);
  fictl::check_dim(op, "target_probs", target, 3);
  fictl::check_last_dim_contiguous(op, "target_probs", target);
  if (target.size(1) >= 1) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "target_probs")
               << "has shape " << Shape{target}
               << ": a request has no row; it has one more than drafts");
}

// An output of counts: int32 of shape (requests,).
void check_counts(const char* op, const char* name, View x, View target) {
  check_shape(op, name, x, {target.size(0)}, "(requests,)", target);
  fictl::check_dtype(op, name, x, fictl::kInt32);
  fictl::check_contiguous(op, name, x);
}

void check_tokens(const char* op, View out, View target) {
  check_shape(op, "out", out, {target.size(0), target.size(1)}, "(requests, drafts + 1)", target);
  fictl::check_dtype(op, "out", out, fictl::kInt32);
  fictl::check_last_dim_contiguous(op, "out", out);
  fictl::check_no_overlap(op, "out", out);
}

void chain_speculative_sampling(View out, View maybe_output_accepted_token_num,
                                View maybe_output_emitted_draft_token_num, View draft_probs,
                                View draft_token_ids, View target_probs, bool adds_accepted,
                                bool adds_emitted, tvm::ffi::Optional<View> seeds,
                                tvm::ffi::Optional<View> offsets, int64_t seed, int64_t offset,
                                bool enable_pdl) {
  check_target(__func__, target_probs);
  const int64_t requests = target_probs.size(0);
  const int64_t drafts = target_probs.size(1) - 1;
  check_shape(__func__, "draft_probs", draft_probs, {requests, drafts, target_probs.size(2)},
              "(requests, drafts, vocab)", target_probs);
  fictl::check_same_dtype(__func__, "draft_probs", draft_probs, "target_probs", target_probs);
  fictl::check_last_dim_contiguous(__func__, "draft_probs", draft_probs);
  check_shape(__func__, "draft_token_ids", draft_token_ids, {requests, drafts},
              "(requests, drafts)", target_probs);
  fictl::check_dtype(__func__, "draft_token_ids", draft_token_ids, {fictl::kInt32, fictl::kInt64});
  check_tokens(__func__, out, target_probs);
  check_counts(__func__, "maybe_output_accepted_token_num", maybe_output_accepted_token_num,
               target_probs);
  check_counts(__func__, "maybe_output_emitted_draft_token_num",
               maybe_output_emitted_draft_token_num, target_probs);
  fictl::call(__func__, target_probs, fictl::sampling::chain_speculative_sampling, out,
              maybe_output_accepted_token_num, maybe_output_emitted_draft_token_num, draft_probs,
              draft_token_ids, target_probs, adds_accepted, adds_emitted, pointer(seeds),
              pointer(offsets), seed, offset, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(chain_speculative_sampling, chain_speculative_sampling);
