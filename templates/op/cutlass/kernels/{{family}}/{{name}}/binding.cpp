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
using fictl::Strides;
using fictl::View;

constexpr const char* kOp = "{{ name }}";

{% include "_macros/gemm_checks.cpp" %}

// For TMA, which moves 16 bytes of a row or none.
void check_cols(const char* name, View x) {
  const int values = 128 / x.dtype().bits;
  if (x.size(1) % values == 0) return;
  fictl::raise(error_about(name) << "has shape " << Shape{x} << "; its columns are no multiple of "
                                 << values << ", pad them");
}

void check_matrix(const char* name, View x) {
  check_neighbours(name, x);
  check_no_overlap(name, x);
  check_aligned(name, x);
  check_cols(name, x);
}

int64_t {{ name }}_workspace(int64_t m, int64_t n, int64_t k) {
  return {{ project }}::{{ family }}::{{ name }}_workspace(m, n, k);
}

{{ cpp("void " ~ name ~ "(", spelled.views + ["View workspace"], ") {") }}
  CHECK_CUDA({{ a }});
  CHECK_SAME_DEVICE({{ b }}, {{ a }});
  CHECK_SAME_DEVICE({{ out }}, {{ a }});
  CHECK_SAME_DEVICE(workspace, {{ a }});
  CHECK_SAME_DTYPE({{ b }}, {{ a }});
  CHECK_SAME_DTYPE({{ out }}, {{ a }});
  CHECK_DIM({{ a }}, 2);
  CHECK_DIM({{ b }}, 2);
  CHECK_DIM({{ out }}, 2);
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
