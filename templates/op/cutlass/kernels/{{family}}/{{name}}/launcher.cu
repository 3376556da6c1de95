{% set a, b, out = inputs[0].name, inputs[1].name, outputs[0].name %}
#include <binding/launch.h>

#include <fictl/device/element.cuh>
#include <{{ project }}/{{ family }}/{{ name }}.cuh>

#include "config.inc"

namespace {{ project }}::{{ family }} {

{% if project != "fictl" %}
using fictl::Launch;
using fictl::View;

{% endif %}
namespace {

namespace kernel = {{ name }}_kernel;
using Gemm = kernel::Gemm<DType, Tile>;

// Why not always the stride: with a single row it is undefined.
template <typename T>
kernel::Matrix<T> matrix_of(View x) {
  return {x.data<T>(), x.size(0), x.size(1), x.size(0) > 1 ? x.stride(0) : x.size(1)};
}

void run(const Launch& launch, const Gemm& gemm, View workspace) {
  const auto needed = static_cast<int64_t>(gemm.workspace_bytes());
  if (workspace.numel() < needed) {
    throw fictl::argument_error(fictl::ErrorKind::ValueError, launch.op, "workspace")
        << "has " << workspace.numel() << " bytes, " << needed << " are needed";
  }
  CUDA_CHECK(launch, gemm.run(workspace.data<void>(), launch.stream));
}

cudaError_t fill_with_zeros(const kernel::Matrix<DType>& out, cudaStream_t stream) {
  return cudaMemset2DAsync(out.data, out.pitch * sizeof(DType), 0, out.cols * sizeof(DType),
                           out.rows, stream);
}

}  // namespace

int64_t {{ name }}_workspace(int64_t m, int64_t n, int64_t k) {
  const Gemm gemm({nullptr, m, k, k}, {nullptr, n, k, k}, {nullptr, m, n, n}, 0, 0);
  return static_cast<int64_t>(gemm.workspace_bytes());
}

{{ cpp("void " ~ name ~ "(", ["const Launch& launch"] + spelled.views + ["View workspace"], ") {") }}
  if ({{ out }}.numel() == 0) return;
  DISPATCH_DTYPE(launch, {{ a }}, T, (DType), {
    const kernel::Matrix<T> result = matrix_of<T>({{ out }});
    const kernel::Matrix<const T> left = matrix_of<const T>({{ a }});
    const kernel::Matrix<const T> right = matrix_of<const T>({{ b }});
    if (left.cols == 0) {
      CUDA_CHECK(launch, fill_with_zeros(result, launch.stream));
    } else {
      run(launch, Gemm(left, right, result, launch.device, launch.sm_count), workspace);
    }
  });
}

}  // namespace {{ project }}::{{ family }}
