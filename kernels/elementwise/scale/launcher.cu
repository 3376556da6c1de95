#include <binding/launch.h>
#include <binding/rows.h>

#include <fictl/elementwise/scale.cuh>

namespace fictl::elementwise {

void scale(const Launch& launch, View out, View input, double factor) {
  const Rows<2> rows = COLLAPSE(launch, out, input);
  const ScaleShape shape{rows.rows, rows.cols, rows.pitch[0], rows.pitch[1]};
  DISPATCH_DTYPE(launch, input, T, (__half, __nv_bfloat16, float), {
    CUDA_CHECK(launch, Scale(out.data<T>(), input.data<const T>(), static_cast<float>(factor),
                             shape, launch.stream, launch.pdl));
  });
}

}  // namespace fictl::elementwise
