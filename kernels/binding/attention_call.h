// The arguments of an attention call, as bindings hand them to launchers.
#pragma once

#include <binding/launch.h>

namespace fictl {

// As the bindings' attend() has them. Pointers are null where there is no such tensor.
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
  // On the host: what is to be copied to `items`, and `merges` behind them, before the kernels.
  const View* list;
  const View* workspace_out;
  const View* workspace_lse;
  const View* mask;
  const View* slopes;
  const View* sinks;
  double sm_scale;
  double v_scale;
  double soft_cap;
  int64_t window_left;
  bool causal;
  double rope_scale;
  double rope_theta;
  const View* scalars;
  bool enable_pdl;
};

}  // namespace fictl
