#include <binding/launch.h>

#include <my_kernels/gemm/linear.cuh>

#include "config.inc"

namespace my_kernels::gemm {

using fictl::Launch;
using fictl::View;

namespace {

namespace kernel = linear_kernel;

// Why not always the stride: with a single row it is undefined.
template <typename T>
kernel::Matrix<T> matrix_of(View x) {
  return {x.data<T>(), x.size(0), x.size(1), x.size(0) > 1 ? x.stride(0) : 0};
}

}  // namespace

void linear(const Launch& launch, View out, View a, View b) {
  DISPATCH_DTYPE(launch, a, T, (DType), {
    CUDA_CHECK(launch, kernel::Gemm(matrix_of<const T>(a), matrix_of<const T>(b), matrix_of<T>(out),
                                    launch.device, launch.sm_count, launch.stream, launch.pdl));
  });
}

}  // namespace my_kernels::gemm
