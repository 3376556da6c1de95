#include <binding/launch.h>

#include <my_kernels/ragged/ragged_sum.cuh>

namespace my_kernels::ragged {

using fictl::Launch;
using fictl::View;

namespace {

// Why not always the stride: that of a dimension of size 1 is undefined.
int64_t pitch_of(View x) { return x.size(0) > 1 ? x.stride(0) : x.size(1); }

}  // namespace

void ragged_sum(const Launch& launch, View out, View x, View plan, View workspace,
                int64_t item_count) {
  const auto* items = plan.data<const RaggedSumItem>();
  const RaggedSumPlan counted{items, item_count, plan.size(0) - item_count};
  const int64_t dim = x.size(1);
  const int64_t pitch = pitch_of(x);
  DISPATCH_DTYPE(launch, x, T, (__half, __nv_bfloat16, float), {
    const auto sum = RaggedSum<T>;
    const T* from = x.data<const T>();
    T* to = out.data<T>();
    CUDA_CHECK(launch, sum(from, counted, to, workspace.data<float>(), dim, pitch, launch.stream,
                           launch.pdl));
  });
}

}  // namespace my_kernels::ragged
