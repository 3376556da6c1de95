#include <binding/launch.h>

#include <fictl/norm/rmsnorm.cuh>

namespace fictl::norm {

namespace {

// Why not always the strides: that of a dimension of size 1 may be anything.
RMSNormPitch pitch_of(View x) {
  const int64_t group = x.ndim() == 3 && x.size(0) > 1 ? x.stride(0) : 0;
  return {x.size(-2) > 1 ? x.stride(-2) : group, group};
}

// Whether row follows row across the groups.
bool at_one_pitch(View x) {
  const RMSNormPitch pitch = pitch_of(x);
  return x.ndim() == 2 || x.size(0) == 1 || pitch.group == x.size(1) * pitch.row;
}

RMSNormShape shape_of(View out, View input) {
  const int64_t rows = input.size(-2) * (input.ndim() == 3 ? input.size(0) : 1);
  const bool one_group = at_one_pitch(out) && at_one_pitch(input);
  return {rows, input.size(-1), one_group ? rows : input.size(-2), pitch_of(input), pitch_of(out)};
}

}  // namespace

void rmsnorm(const Launch& launch, View out, View input, View weight, double eps, bool enable_pdl) {
  const RMSNormShape shape = shape_of(out, input);
  DISPATCH_DTYPE(launch, input, T, (__half, __nv_bfloat16, float), {
    CUDA_CHECK(launch,
               RMSNorm(input.data<const T>(), weight.data<const T>(), out.data<T>(),
                       static_cast<float>(eps), shape, launch.stream, launch.pdl && enable_pdl));
  });
}

}  // namespace fictl::norm
