#include <binding/launch.h>
#include <binding/rows.h>

#include <fictl/elementwise/swiglu.cuh>

namespace fictl::elementwise {

void swiglu(const Launch& launch, View out, View x, View gate) {
  const Rows<3> rows = COLLAPSE(launch, out, x, gate);
  const SwigluShape shape{rows.rows, rows.cols, rows.pitch[0], rows.pitch[1], rows.pitch[2]};
  DISPATCH_DTYPE(launch, x, T, (__half, __nv_bfloat16, float), {
    CUDA_CHECK(launch, Swiglu(out.data<T>(), x.data<const T>(), gate.data<const T>(), shape,
                              launch.stream, launch.pdl));
  });
}

}  // namespace fictl::elementwise
