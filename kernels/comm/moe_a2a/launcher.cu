#include <binding/launch.h>
#include <binding/peers.h>

#include <fictl/comm/moe_a2a.cuh>

#include <vector>

namespace fictl::comm {

namespace {

int64_t row_bytes(View rows, int64_t leading) {
  const int64_t elements = leading == 0 ? 0 : rows.numel() / leading;
  return elements * rows.dtype().bits / 8;
}

}  // namespace

void moe_a2a_dispatch(const Launch& launch, View experts, const std::vector<View>& payloads,
                      View host_peers, const std::vector<int64_t>& received, int64_t most,
                      int64_t expert_count, int64_t active, bool enable_pdl) {
  const Peers peers = peers_of(launch, host_peers);
  const int64_t tokens = experts.size(0);
  MoeDispatch dispatch = {};
  dispatch.experts = experts.data<const int32_t>();
  dispatch.top_k = static_cast<int>(experts.size(1));
  dispatch.expert_count = static_cast<int>(expert_count);
  dispatch.experts_of_rank = static_cast<int>(expert_count / peers.size);
  dispatch.payload_count = static_cast<int>(payloads.size());
  for (size_t n = 0; n < payloads.size(); ++n) {
    dispatch.payloads[n] = {payloads[n].data<const uint8_t>(), row_bytes(payloads[n], tokens),
                            received[n]};
  }
  dispatch.begin = received.front();
  dispatch.end = received.back();
  const MoeShape shape{static_cast<int>(tokens), static_cast<int>(most),
                       static_cast<unsigned>(active)};
  CUDA_CHECK(launch, DispatchMoe(peers, shape, dispatch, launch.stream, launch.pdl && enable_pdl));
}

void moe_a2a_combine(const Launch& launch, View out, View payload, View host_peers, int64_t most,
                     int64_t replies, int64_t active, bool is_staged, bool enable_pdl) {
  const Peers peers = peers_of(launch, host_peers);
  const bool pdl = launch.pdl && enable_pdl;
  const MoeShape shape{static_cast<int>(out.size(0)), static_cast<int>(most),
                       static_cast<unsigned>(active)};
  const int64_t hidden = out.size(1);
  if (!is_staged) {
    CUDA_CHECK(launch, StageMoe(peers, shape, payload.data<const void>(),
                                hidden * payload.dtype().bits / 8, replies, launch.stream, pdl));
  }
  DISPATCH_DTYPE(launch, payload, T, (__half, __nv_bfloat16, float), {
    CUDA_CHECK(launch,
               CombineMoe(peers, shape, out.data<T>(), hidden, replies, launch.stream, pdl));
  });
}

void moe_a2a_sanitize_expert_ids(const Launch& launch, View expert_ids, View host_peers,
                                 int64_t invalid_expert_id, bool enable_pdl) {
  CUDA_CHECK(launch,
             SanitizeMoe(peers_of(launch, host_peers), expert_ids.data<int32_t>(),
                         static_cast<int>(expert_ids.size(1)), static_cast<int>(expert_ids.size(2)),
                         static_cast<int32_t>(invalid_expert_id), launch.stream,
                         launch.pdl && enable_pdl));
}

}  // namespace fictl::comm
