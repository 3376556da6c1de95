#include <binding/launch.h>

#include <fictl/elementwise/concat_mla_k.cuh>

namespace fictl::elementwise {

namespace {

// Why not always the stride: that of a dimension of size 1 may be anything.
int64_t pitch_of(View x, int dim) {
  return x.size(dim) > 1 ? x.stride(dim) * (x.dtype().bits / 8) : 0;
}

template <typename T>
ConcatHeads<T> heads_of(View x) {
  return {x.data<T>(), pitch_of(x, 0), pitch_of(x, 1)};
}

}  // namespace

void concat_mla_k(const Launch& launch, View k, View k_nope, View k_rope, bool enable_pdl) {
  const int64_t bytes = k.dtype().bits / 8;
  const ConcatProblem problem{
      heads_of<char>(k), heads_of<const char>(k_nope), heads_of<const char>(k_rope), k.size(0),
      k.size(1),         k_nope.size(2) * bytes,       k_rope.size(2) * bytes};
  CUDA_CHECK(launch, ConcatMlaK(problem, launch.stream, launch.pdl && enable_pdl));
}

}  // namespace fictl::elementwise
