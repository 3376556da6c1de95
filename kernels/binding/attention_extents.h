// How many tokens and pages the tensors of an attention call hold: kernels that address them by
// tensor maps ask for it.
#pragma once

#include <binding/attention_call.h>

#include <fictl/attention/sm90/maps.cuh>

namespace fictl {

template <typename Config>
attention::sm90::Extents attention_extents(const AttentionCall& call) {
  const bool paged = attention::sm90::kIsPaged<typename Config::Keys>;
  const int tokens = paged || !call.hnd ? 0 : 1;
  return {call.q.size(0), call.k.size(tokens)};
}

}  // namespace fictl
