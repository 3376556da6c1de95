// Arguments of a fused all-reduce: optional tensors are null where they are not given.
#pragma once

#include <binding/channel_arguments.h>
#include <binding/launch.h>
#include <binding/view.h>

namespace fictl {

struct NormCall {
  int64_t adds;  // comm::Adds
  const View* input;
  const View* experts;
  const View* expert_scales;
  const View* places;
  int64_t count;  // of experts
  double factor;
  const View* sum_out;
  const View* residual_out;
  const View* norm_out;
  double eps;
  double weight_bias;
  int64_t quantizes;  // comm::Quantizes
  const View* quant_out;
  const View* scale_out;
  const View* scale;
  int64_t group_or_layout;
};

}  // namespace fictl
