// A call of attention whose lengths are on the device, as its binding hands it to the launcher.
#pragma once

#include <binding/launch.h>

namespace fictl {

// Pointers to optional tensors may be null.
struct PlannedCall {
  View out;
  const View* lse;
  View q;
  View k;  // or, as both, a cache that stacks them: (pages, 2, ...), or 1 in place of the 2
  View v;
  View pages;  // a row for each request
  View kv_lens;
  const View* q_starts;
  bool hnd;
  int64_t q_len;  // of each request; the most, where q_starts says how many
  View counters;  // zeros between calls
  View parts;     // partial results, from the byte `reserved` on
  int64_t reserved;
  const View* mask;
  const View* sinks;
  const View* scale_q;  // of one element each
  const View* scale_k;
  const View* scale_v;
  double sm_scale;
  double v_scale;
  int64_t window_left;
  bool enable_pdl;
  int64_t most_sms;      // 0: all
  const View* blocks_k;  // scales of the blocks of a cache of four bits; stacked as k and v are
  const View* blocks_v;
  int64_t pages_apart;  // 0, or how far after those of keys the indices of values are
  int64_t likely_keys;  // the most of a request, as the caller says: it only helps to choose
};

}  // namespace fictl
