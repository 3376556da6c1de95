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
using fictl::View;

constexpr const char* kOp = "{{ name }}";

{% include "_macros/gemm_checks.cpp" %}

{{ cpp("void " ~ name ~ "(", spelled.views, ") {") }}
  fictl::check_device(kOp, "{{ a }}", {{ a }});
{{ cpp("  fictl::check_same_device(", ["kOp", '"' ~ b ~ '"', b, '"' ~ a ~ '"', a], ");") }}
{{ cpp("  fictl::check_same_device(", ["kOp", '"' ~ out ~ '"', out, '"' ~ a ~ '"', a], ");") }}
{{ cpp("  fictl::check_same_dtype(", ["kOp", '"' ~ b ~ '"', b, '"' ~ a ~ '"', a], ");") }}
{{ cpp("  fictl::check_same_dtype(", ["kOp", '"' ~ out ~ '"', out, '"' ~ a ~ '"', a], ");") }}
  fictl::check_dim(kOp, "{{ a }}", {{ a }}, 2);
  fictl::check_dim(kOp, "{{ b }}", {{ b }}, 2);
  fictl::check_dim(kOp, "{{ out }}", {{ out }}, 2);
{{ cpp("  check_size(", ['"' ~ b ~ '"', b, "1", '"' ~ a ~ '"', a, "1"], ");") }}
{{ cpp("  check_size(", ['"' ~ out ~ '"', out, "0", '"' ~ a ~ '"', a, "0"], ");") }}
{{ cpp("  check_size(", ['"' ~ out ~ '"', out, "1", '"' ~ b ~ '"', b, "0"], ");") }}
  fictl::check_last_dim_contiguous(kOp, "{{ a }}", {{ a }});
  fictl::check_last_dim_contiguous(kOp, "{{ b }}", {{ b }});
  fictl::check_last_dim_contiguous(kOp, "{{ out }}", {{ out }});
  check_aligned_rows("{{ a }}", {{ a }});
  check_aligned_rows("{{ b }}", {{ b }});
  fictl::check_no_overlap(kOp, "{{ out }}", {{ out }});
{{ cpp("  fictl::call(", ["__func__", a, project ~ "::" ~ family ~ "::" ~ name] + spelled.passed, ");") }}
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC({{ name }}, {{ name }});
