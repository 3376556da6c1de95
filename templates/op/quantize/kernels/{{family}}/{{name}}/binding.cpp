{% from "_macros/matrix_names.jinja" import x, declared with context %}
{% set q, scales = outputs[0].name, outputs[1].name %}
{% set to = parse_dtype(outputs[0].dtype) %}
#include <binding/ffi.h>

namespace {{ project }}::{{ family }} {
{{ cpp("void " ~ name ~ "(", declared, ");") }}
}

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;

constexpr const char* kOp = "{{ name }}";
constexpr DLDataType kTo{ {{- {"e4m3": "kDLFloat8_e4m3fn", "e5m2": "kDLFloat8_e5m2", "i8": "kDLInt"}[to.short] }}, 8, 1};

void check_group_size(int64_t group_size, View {{ x }}) {
  if (group_size > 0 && {{ x }}.size(1) % group_size == 0) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "group_size")
               << "is " << group_size << ", '{{ x }}' has shape " << Shape{ {{- x -}} }
               << ": whole groups make a row");
}

void check_scales(View {{ scales }}, View {{ x }}, int64_t groups) {
{{ cpp("  fictl::check_same_device(", ["kOp", '"' ~ scales ~ '"', scales, '"' ~ x ~ '"', x], ");") }}
  fictl::check_dtype(kOp, "{{ scales }}", {{ scales }}, fictl::kFloat32);
  fictl::check_contiguous(kOp, "{{ scales }}", {{ scales }});
  const int64_t rows = {{ x }}.size(0);
  const bool fits = {{ scales }}.ndim() == 2 && {{ scales }}.size(0) == rows;
  if (fits && {{ scales }}.size(1) == groups) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "{{ scales }}")
               << "has shape " << Shape{ {{- scales -}} } << "; it is (" << rows << ", " << groups
               << "), one for each group");
}

{{ cpp("void " ~ name ~ "(", spelled.views, ") {") }}
  fictl::check_device(kOp, "{{ x }}", {{ x }});
  fictl::check_dim(kOp, "{{ x }}", {{ x }}, 2);
  check_group_size(group_size, {{ x }});
{% for check in ["device", "shape"] %}
{{ cpp("  fictl::check_same_" ~ check ~ "(", ["kOp", '"' ~ q ~ '"', q, '"' ~ x ~ '"', x], ");") }}
{% endfor %}
  fictl::check_dtype(kOp, "{{ q }}", {{ q }}, kTo);
  check_scales({{ scales }}, {{ x }}, {{ x }}.size(1) / group_size);
{{ cpp("  fictl::call(", ["kOp", x, project ~ "::" ~ family ~ "::" ~ name] + spelled.passed, ");") }}
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC({{ name }}, {{ name }});
