{% set a, b, out = inputs[0].name, inputs[1].name, outputs[0].name %}
#include <binding/launch.h>

#include <{{ project }}/{{ family }}/{{ name }}.cuh>

#include "config.inc"

namespace {{ project }}::{{ family }} {

{% if project != "fictl" %}
using fictl::Launch;
using fictl::View;

{% endif %}
namespace {

namespace kernel = {{ name }}_kernel;

// Why not always the stride: with a single row it is undefined.
template <typename T>
kernel::Matrix<T> matrix_of(View x) {
  return {x.data<T>(), x.size(0), x.size(1), x.size(0) > 1 ? x.stride(0) : 0};
}

}  // namespace

{{ cpp("void " ~ name ~ "(", ["const Launch& launch"] + spelled.views, ") {") }}
  DISPATCH_DTYPE(launch, {{ a }}, T, (DType), {
{{ cpp("    CUDA_CHECK(launch, kernel::Gemm(", ["matrix_of<const T>(" ~ a ~ ")", "matrix_of<const T>(" ~ b ~ ")", "matrix_of<T>(" ~ out ~ ")", "launch.device", "launch.sm_count", "launch.stream", "launch.pdl"], "));") }}
  });
}

}  // namespace {{ project }}::{{ family }}
