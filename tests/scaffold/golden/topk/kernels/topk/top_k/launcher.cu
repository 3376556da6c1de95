#include <binding/launch.h>
#include <binding/row_pitch.h>

#include <my_kernels/topk/top_k.cuh>

namespace my_kernels::topk {

using fictl::Launch;
using fictl::View;

namespace {

void check_k(const Launch& launch, int64_t k) {
  if (k <= kTopKMost) return;
  throw fictl::argument_error(fictl::ErrorKind::ValueError, launch.op, "k")
      << "is " << k << "; the kernel chooses up to " << kTopKMost;
}

}  // namespace

void top_k(const Launch& launch, View values, View indices, View logits, int64_t k) {
  check_k(launch, k);
  DISPATCH_DTYPE(launch, logits, T, (__half, __nv_bfloat16, float), {
    TopKArgs<T> args;
    args.values = values.data<T>();
    args.indices = indices.data<int32_t>();
    args.logits = logits.data<const T>();
    args.rows = logits.size(0);
    args.cols = static_cast<int>(logits.size(1));
    args.k = static_cast<int>(k);
    args.values_pitch = WRITTEN_ROW_PITCH(launch, values);
    args.indices_pitch = WRITTEN_ROW_PITCH(launch, indices);
    args.logits_pitch = ROW_PITCH(launch, logits);
    CUDA_CHECK(launch, TopK(args, launch.stream, launch.pdl));
  });
}

}  // namespace my_kernels::topk
