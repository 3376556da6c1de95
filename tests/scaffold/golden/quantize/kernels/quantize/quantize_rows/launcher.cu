#include <binding/launch.h>
#include <binding/row_pitch.h>

#include <my_kernels/quantize/quantize_rows.cuh>

namespace my_kernels::quantize {

using fictl::Launch;
using fictl::View;

void quantize_rows(const Launch& launch, View q, View scales, View x, int64_t group_size) {
  DISPATCH_DTYPE(launch, x, T, (__half, __nv_bfloat16, float), {
    QuantizeRowsArgs<T> args;
    args.q = q.data<QuantizeRowsTo>();
    args.scales = scales.data<float>();
    args.x = x.data<const T>();
    args.rows = x.size(0);
    args.groups = x.size(1) / group_size;
    args.group_size = group_size;
    args.q_pitch = WRITTEN_ROW_PITCH(launch, q);
    args.x_pitch = ROW_PITCH(launch, x);
    CUDA_CHECK(launch, QuantizeRows(args, launch.stream, launch.pdl));
  });
}

}  // namespace my_kernels::quantize
