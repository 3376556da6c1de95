{% set a, b, out = inputs[0].name, inputs[1].name, outputs[0].name %}
#include <binding/ffi.h>

namespace {{ project }}::{{ family }} {
{% if project != "fictl" %}
using fictl::Launch;
using fictl::View;
{% endif %}
int64_t {{ name }}_workspace(int64_t m, int64_t n, int64_t k);
{{ cpp("void " ~ name ~ "(", ["const Launch& launch"] + spelled.views + ["View workspace"], ");") }}
}{{ "  // namespace " ~ project ~ "::" ~ family }}

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;

constexpr const char* kOp = "{{ name }}";

{% include "_macros/gemm_checks.cpp" %}

// TMA copies rows in units of 16 bytes.
void check_cols(const char* name, View x) {
  const int values = 128 / x.dtype().bits;
  if (x.size(1) % values == 0) return;
  fictl::raise(error_about(name) << "has shape " << Shape{x}
                                 << "; its last dimension is not a multiple of " << values
                                 << ": pad it");
}

void check_matrix(const char* name, View x) {
  fictl::check_last_dim_contiguous(kOp, name, x);
  fictl::check_no_overlap(kOp, name, x);
  check_aligned_rows(name, x);
  check_cols(name, x);
}

int64_t {{ name }}_workspace(int64_t m, int64_t n, int64_t k) {
  return {{ project }}::{{ family }}::{{ name }}_workspace(m, n, k);
}

{{ cpp("void " ~ name ~ "(", spelled.views + ["View workspace"], ") {") }}
  fictl::check_device(kOp, "{{ a }}", {{ a }});
{{ cpp("  fictl::check_same_device(", ["kOp", '"' ~ b ~ '"', b, '"' ~ a ~ '"', a], ");") }}
{{ cpp("  fictl::check_same_device(", ["kOp", '"' ~ out ~ '"', out, '"' ~ a ~ '"', a], ");") }}
{{ cpp("  fictl::check_same_device(", ["kOp", '"workspace"', 'workspace', '"' ~ a ~ '"', a], ");") }}
{{ cpp("  fictl::check_same_dtype(", ["kOp", '"' ~ b ~ '"', b, '"' ~ a ~ '"', a], ");") }}
{{ cpp("  fictl::check_same_dtype(", ["kOp", '"' ~ out ~ '"', out, '"' ~ a ~ '"', a], ");") }}
  fictl::check_dim(kOp, "{{ a }}", {{ a }}, 2);
  fictl::check_dim(kOp, "{{ b }}", {{ b }}, 2);
  fictl::check_dim(kOp, "{{ out }}", {{ out }}, 2);
{{ cpp("  check_size(", ['"' ~ b ~ '"', b, "1", '"' ~ a ~ '"', a, "1"], ");") }}
{{ cpp("  check_size(", ['"' ~ out ~ '"', out, "0", '"' ~ a ~ '"', a, "0"], ");") }}
{{ cpp("  check_size(", ['"' ~ out ~ '"', out, "1", '"' ~ b ~ '"', b, "0"], ");") }}
  check_matrix("{{ a }}", {{ a }});
  check_matrix("{{ b }}", {{ b }});
  check_matrix("{{ out }}", {{ out }});
{{ cpp("  fictl::call(", ["__func__", a, project ~ "::" ~ family ~ "::" ~ name] + spelled.passed + ["workspace"], ");") }}
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC({{ name }}_workspace, {{ name }}_workspace);
TVM_FFI_DLL_EXPORT_TYPED_FUNC({{ name }}, {{ name }});
