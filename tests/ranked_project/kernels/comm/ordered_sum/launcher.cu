#include <binding/launch.h>

#include <ranked/comm/ordered_sum.cuh>

namespace ranked::comm {

void ordered_sum(const fictl::Launch& launch, fictl::View out, fictl::View rows) {
  CUDA_CHECK(launch, OrderedSum(out.data<float>(), rows.data<const float>(), rows.size(0),
                                rows.size(1), launch.stream));
}

}  // namespace ranked::comm
