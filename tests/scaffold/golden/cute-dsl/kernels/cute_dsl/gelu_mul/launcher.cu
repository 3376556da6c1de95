#include <binding/launch.h>
#include <binding/rows.h>

#include <fictl/device/element.cuh>
#include <fictl/device/math.cuh>
#include <kernel.inc>

namespace my_kernels::cute_dsl {

namespace device = fictl::device;
using fictl::Launch;
using fictl::Rows;
using fictl::View;

void gelu_mul(const Launch& launch, View out, View x, View gate, double factor) {
  const Rows<3> rows = COLLAPSE(launch, out, x, gate);
  if (rows.rows == 0 || rows.cols == 0) return;
  const auto grid = [&](auto constants) {
    return rows.rows * device::ceil_div(rows.cols, constants.block);
  };
  DISPATCH_DTYPE(launch, x, T, (__half, __nv_bfloat16, float), {
    CUDA_CHECK(launch, kernel::gelu_mul(launch, grid, out.data<T>(), x.data<const T>(),
                                        gate.data<const T>(), static_cast<float>(factor), rows.cols,
                                        rows.pitch[0], rows.pitch[1], rows.pitch[2]));
  });
}

}  // namespace my_kernels::cute_dsl
