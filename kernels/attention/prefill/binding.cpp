#include <binding/attention.h>
#include <binding/attention_plan.h>

#include <fictl/attention/plan.cuh>

namespace fictl::attention {
void attend(const Launch& launch, AttentionCall call);
}  // namespace fictl::attention

namespace {

using fictl::View;

// Why written out: torch.compile reads what is exported by its definition.
void attend(std::string op, View out, tvm::ffi::Optional<View> lse, View q, View k, View v,
            tvm::ffi::Optional<View> pages, int64_t page_size, bool hnd, View items, View merges,
            tvm::ffi::Optional<View> host_list, tvm::ffi::Optional<View> workspace_out,
            tvm::ffi::Optional<View> workspace_lse, tvm::ffi::Optional<View> mask,
            tvm::ffi::Optional<View> slopes, tvm::ffi::Optional<View> sinks,
            tvm::ffi::Optional<View> scale_q, tvm::ffi::Optional<View> scale_k,
            tvm::ffi::Optional<View> scale_v, double sm_scale, double v_scale, double soft_cap,
            int64_t window_left, bool causal, double rope_scale, double rope_theta,
            tvm::ffi::Optional<View> host_scalars, bool enable_pdl, int64_t most_sms) {
  fictl::attend<fictl::attention::attend>(
      op, out, lse, q, k, v, pages, page_size, hnd, items, merges, host_list, workspace_out,
      workspace_lse, mask, slopes, sinks, scale_q, scale_k, scale_v, sm_scale, v_scale, soft_cap,
      window_left, causal, rope_scale, rope_theta, host_scalars, enable_pdl, most_sms);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(attend, attend);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(plan, fictl::plan_attention<fictl::attention::Planner>);
