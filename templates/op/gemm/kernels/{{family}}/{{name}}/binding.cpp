{% set a, b, out = inputs[0].name, inputs[1].name, outputs[0].name %}
#include <binding/ffi.h>

namespace {{ project }}::{{ family }} {
{% if project != "fictl" %}
using fictl::Launch;
using fictl::View;
{% endif %}
{{ cpp("void " ~ name ~ "(", ["const Launch& launch"] + spelled.views, ");") }}
}{{ "  // namespace " ~ project ~ "::" ~ family if project != "fictl" }}

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::Strides;
using fictl::View;

constexpr const char* kOp = "{{ name }}";

{% include "_macros/gemm_checks.cpp" %}

{{ cpp("void " ~ name ~ "(", spelled.views, ") {") }}
  CHECK_CUDA({{ a }});
  CHECK_SAME_DEVICE({{ b }}, {{ a }});
  CHECK_SAME_DEVICE({{ out }}, {{ a }});
  CHECK_SAME_DTYPE({{ b }}, {{ a }});
  CHECK_SAME_DTYPE({{ out }}, {{ a }});
  CHECK_DIM({{ a }}, 2);
  CHECK_DIM({{ b }}, 2);
  CHECK_DIM({{ out }}, 2);
{{ cpp("  check_size(", ['"' ~ b ~ '"', b, "1", '"' ~ a ~ '"', a, "1"], ");") }}
{{ cpp("  check_size(", ['"' ~ out ~ '"', out, "0", '"' ~ a ~ '"', a, "0"], ");") }}
{{ cpp("  check_size(", ['"' ~ out ~ '"', out, "1", '"' ~ b ~ '"', b, "0"], ");") }}
  check_neighbours("{{ a }}", {{ a }});
  check_neighbours("{{ b }}", {{ b }});
  check_neighbours("{{ out }}", {{ out }});
  check_aligned("{{ a }}", {{ a }});
  check_aligned("{{ b }}", {{ b }});
  check_no_overlap("{{ out }}", {{ out }});
{{ cpp("  fictl::call(", ["__func__", a, project ~ "::" ~ family ~ "::" ~ name] + spelled.passed, ");") }}
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC({{ name }}, {{ name }});
