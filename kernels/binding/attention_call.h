// The arguments of an attention call, as bindings hand them to launchers.
#pragma once

#include <binding/launch.h>

namespace fictl {

// The arguments of the bindings' attend(). Pointers to optional tensors may be null.
struct AttentionCall {
  View out;
  const View* lse;
  View q;
  View k;
  View v;
  const View* pages;
  int64_t page_size;
  bool hnd;
  View items;
  View merges;
  // On the host: copied to `items`, and then to `merges`, before the kernels run.
  const View* list;
  const View* workspace_out;
  const View* workspace_lse;
  const View* mask;  // bits, or the spans of keys that queries see
  const View* slopes;
  const View* sinks;
  const View* scale_q;
  const View* scale_k;  // and scale_v: of heads, or of the blocks of a cache without blocks_k
  const View* scale_v;
  double sm_scale;
  double v_scale;
  double soft_cap;
  int64_t window_left;
  bool causal;
  double rope_scale;
  double rope_theta;
  const View* scalars;
  bool enable_pdl;
  int64_t most_sms;  // that a persistent kernel takes; 0: all
  // The arguments that users pass keys and values in pages as: one tensor, or a pair.
  const char* paged_k = "paged_kv_cache";
  const char* paged_v = "paged_kv_cache";
  const View* blocks_k = nullptr;  // scales of the blocks of a cache of four bits
  const View* blocks_v = nullptr;
};

}  // namespace fictl
