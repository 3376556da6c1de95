{% set a, b, out = inputs[0].name, inputs[1].name, outputs[0].name %}
#include <binding/ffi.h>
#include <binding/gemm_checks.h>

{% set call = "fictl::GemmCall" if project != "fictl" else "GemmCall" %}
namespace {{ project }}::{{ family }} {
void {{ name }}(const {{ "fictl::" if project != "fictl" }}Launch& launch, {{ call }} call);
}

namespace {

using fictl::View;

constexpr const char* kOp = "{{ name }}";
constexpr int kColumnsPerOutput = 1;  // as the epilogue has it

{{ cpp("void " ~ name ~ "(", spelled.views, ") {") }}
  fictl::check_dim(kOp, "{{ a }}", {{ a }}, 2);
  fictl::GemmCall call{"{{ a }}", "{{ b }}", {{ out }}, {{ a }}, {{ b }}};
  call.parts = 1;
  fictl::check_gemm(kOp, call, kColumnsPerOutput);
{{ cpp("  fictl::check_same_dtype(", ["kOp", '"' ~ out ~ '"', out, '"' ~ a ~ '"', a], ");") }}
  fictl::check_aligned(kOp, "{{ a }}", {{ a }}, 16);
  fictl::check_aligned(kOp, "{{ b }}", {{ b }}, 16);
  fictl::call(kOp, {{ a }}, {{ project }}::{{ family }}::{{ name }}, call);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC({{ name }}, {{ name }});
