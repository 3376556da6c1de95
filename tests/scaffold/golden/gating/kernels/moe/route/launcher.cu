#include <binding/launch.h>
#include <binding/row_pitch.h>

#include <my_kernels/moe/route.cuh>

namespace my_kernels::moe {

using fictl::Launch;
using fictl::View;

namespace {

void check_most(const Launch& launch, const char* argument, int64_t number, int most) {
  if (number <= most) return;
  throw fictl::argument_error(fictl::ErrorKind::ValueError, launch.op, argument)
      << "is " << number << "; the kernel has room for " << most;
}

void check_experts(const Launch& launch, int64_t experts) {
  if (experts <= kRouteMostExperts) return;
  throw fictl::argument_error(fictl::ErrorKind::ValueError, launch.op, "logits")
      << "is for " << experts << " experts; the kernel has room for " << kRouteMostExperts;
}

}  // namespace

void route(const Launch& launch, View weights, View ids, View logits, int64_t top_k, int64_t groups,
           int64_t top_groups, bool sigmoid, bool renormalize, double scale, const View* bias) {
  check_experts(launch, logits.size(1));
  check_most(launch, "groups", groups, kRouteMostGroups);
  check_most(launch, "top_k", top_k, kRouteMostTopK);
  DISPATCH_DTYPE(launch, logits, T, (__half, __nv_bfloat16, float), {
    RouteArgs<T> args;
    args.weights = weights.data<float>();
    args.ids = ids.data<int32_t>();
    args.logits = logits.data<const T>();
    args.bias = bias == nullptr ? nullptr : bias->data<const float>();
    args.tokens = logits.size(0);
    args.logits_pitch = ROW_PITCH(launch, logits);
    args.experts = static_cast<int>(logits.size(1));
    args.top_k = static_cast<int>(top_k);
    args.groups = static_cast<int>(groups);
    args.top_groups = static_cast<int>(top_groups);
    args.sigmoid = sigmoid;
    args.renormalize = renormalize;
    args.scale = static_cast<float>(scale);
    CUDA_CHECK(launch, Route(args, launch.stream, launch.pdl));
  });
}

}  // namespace my_kernels::moe
