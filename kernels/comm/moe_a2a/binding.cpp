#include <binding/ffi.h>
#include <tvm/ffi/container/array.h>

namespace fictl::comm {
void moe_a2a_dispatch(const Launch& launch, View experts, const std::vector<View>& payloads,
                      View host_peers, const std::vector<int64_t>& received, int64_t most,
                      int64_t expert_count, int64_t active, bool enable_pdl);
void moe_a2a_combine(const Launch& launch, View out, View payload, View host_peers, int64_t most,
                     int64_t replies, int64_t active, bool is_staged, bool enable_pdl);
void moe_a2a_sanitize_expert_ids(const Launch& launch, View expert_ids, View host_peers,
                                 int64_t invalid_expert_id, bool enable_pdl);
}  // namespace fictl::comm

namespace {

using fictl::View;
using tvm::ffi::Array;
using tvm::ffi::Optional;

// op.py has checked shapes and the room of the workspace. `received`: where each payload goes, and
// the end of the last one. Why single payloads: torch.compile knows
// no lists of tensors that are written behind its back.
void moe_a2a_dispatch(View token_selected_experts, View workspace, Optional<View> payload_0,
                      Optional<View> payload_1, Optional<View> payload_2, Optional<View> payload_3,
                      Optional<View> payload_4, Optional<View> payload_5, Optional<View> payload_6,
                      Optional<View> payload_7, View host_peers, Array<int64_t> received,
                      int64_t most, int64_t expert_count, int64_t active, bool enable_pdl) {
  constexpr const char* kExperts = "token_selected_experts";
  fictl::check_device(__func__, kExperts, token_selected_experts);
  fictl::check_dtype(__func__, kExperts, token_selected_experts, fictl::kInt32);
  fictl::check_dim(__func__, kExperts, token_selected_experts, 2);
  fictl::check_contiguous(__func__, kExperts, token_selected_experts);
  fictl::check_same_device(__func__, "workspace", workspace, kExperts, token_selected_experts);
  std::vector<View> payloads;
  for (const Optional<View>& payload :
       {payload_0, payload_1, payload_2, payload_3, payload_4, payload_5, payload_6, payload_7}) {
    if (!payload.has_value()) continue;
    fictl::check_same_device(__func__, "input_payloads", *payload, kExperts,
                             token_selected_experts);
    fictl::check_contiguous(__func__, "input_payloads", *payload);
    payloads.push_back(*payload);
  }
  const std::vector<int64_t> offsets(received.begin(), received.end());
  fictl::call(__func__, token_selected_experts, fictl::comm::moe_a2a_dispatch,
              token_selected_experts, payloads, host_peers, offsets, most, expert_count, active,
              enable_pdl);
}

void moe_a2a_combine(View out, View payload, View workspace, View host_peers, int64_t most,
                     int64_t replies, int64_t active, bool is_staged, bool enable_pdl) {
  fictl::check_device(__func__, "payload", payload);
  fictl::check_same_device(__func__, "output", out, "payload", payload);
  fictl::check_same_device(__func__, "workspace", workspace, "payload", payload);
  fictl::check_same_dtype(__func__, "output", out, "payload", payload);
  fictl::check_contiguous(__func__, "payload", payload);
  fictl::check_contiguous(__func__, "output", out);
  fictl::call(__func__, payload, fictl::comm::moe_a2a_combine, out, payload, host_peers, most,
              replies, active, is_staged, enable_pdl);
}

void moe_a2a_sanitize_expert_ids(View out, View workspace, View host_peers,
                                 int64_t invalid_expert_id, bool enable_pdl) {
  fictl::check_device(__func__, "expert_ids", out);
  fictl::check_same_device(__func__, "workspace", workspace, "expert_ids", out);
  fictl::check_dtype(__func__, "expert_ids", out, fictl::kInt32);
  fictl::check_dim(__func__, "expert_ids", out, 3);
  fictl::check_contiguous(__func__, "expert_ids", out);
  fictl::call(__func__, out, fictl::comm::moe_a2a_sanitize_expert_ids, out, host_peers,
              invalid_expert_id, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(moe_a2a_dispatch, moe_a2a_dispatch);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(moe_a2a_combine, moe_a2a_combine);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(moe_a2a_sanitize_expert_ids, moe_a2a_sanitize_expert_ids);
