#include <binding/launch.h>
#include <binding/row_pitch.h>

#include <my_kernels/histogram/histogram.cuh>

namespace my_kernels::histogram {

using fictl::Launch;
using fictl::View;

void histogram(const Launch& launch, View counts, View x, int64_t bins, double low, double high) {
  DISPATCH_DTYPE(launch, x, T, (__half, __nv_bfloat16, float), {
    HistogramArgs<T> args;
    args.counts = counts.data<int32_t>();
    args.x = x.data<const T>();
    args.rows = x.size(0);
    args.cols = x.size(1);
    args.x_pitch = ROW_PITCH(launch, x);
    args.bins = static_cast<int>(bins);
    args.low = static_cast<float>(low);
    args.high = static_cast<float>(high);
    CUDA_CHECK(launch, Histogram(args, launch.sm_count, launch.stream, launch.pdl));
  });
}

}  // namespace my_kernels::histogram
