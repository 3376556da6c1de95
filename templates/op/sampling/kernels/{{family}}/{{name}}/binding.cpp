{% from "_macros/row_names.jinja" import out, names, vectors, rows with context %}
{% from "_macros/draw_views.jinja" import taken, declared, passed with context %}
{% set first = rows[0] %}
#include <binding/ffi.h>

namespace {{ project }}::{{ family }} {
{{ cpp("void " ~ name ~ "(", declared, ");") }}
}

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;
using tvm::ffi::Optional;

constexpr const char* kOp = "{{ name }}";

{% include "_macros/row_checks.cpp" %}
// A token for each row, or for each of the indices.
void check_out(View {{ out }}, const char* name, View each) {
  fictl::check_dim(kOp, "{{ out }}", {{ out }}, 1);
  fictl::check_dtype(kOp, "{{ out }}", {{ out }}, fictl::kInt32);
  if ({{ out }}.size(0) == each.size(0)) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "{{ out }}")
               << "has shape " << Shape{ {{- out -}} } << ", '" << name << "' has " << Shape{each}
               << "; it has a token for each");
}

{{ cpp("void " ~ name ~ "(", taken, ") {") }}
  fictl::check_device(kOp, "{{ first }}", {{ first }});
{% for each in [out] + rows[1:] + vectors %}
{{ cpp("  fictl::check_same_device(", ["kOp", '"' ~ each ~ '"', each, '"' ~ first ~ '"', first], ");") }}
{% if each != out %}
{{ cpp("  fictl::check_same_dtype(", ["kOp", '"' ~ each ~ '"', each, '"' ~ first ~ '"', first], ");") }}
{% endif %}
{% endfor %}
  fictl::check_dim(kOp, "{{ first }}", {{ first }}, 2);
{% for each in rows[1:] %}
{{ cpp("  fictl::check_same_shape(", ["kOp", '"' ~ each ~ '"', each, '"' ~ first ~ '"', first], ");") }}
{% endfor %}
{% for each in vectors %}
  fictl::check_dim(kOp, "{{ each }}", {{ each }}, 1);
{{ cpp("  check_length(", ["__func__", '"' ~ each ~ '"', each, '"' ~ first ~ '"', first], ");") }}
  fictl::check_contiguous(kOp, "{{ each }}", {{ each }});
{% endfor %}
{% for axis in axes if axis.size %}
{{ cpp("  check_size(", ["__func__", '"' ~ first ~ '"', first, (roles.rows + roles.cols).index(axis.name) ~ "", axis.size ~ ""], ");") }}
{% endfor %}
  if (indices.has_value()) {
    fictl::check_same_device(kOp, "indices", *indices, "{{ first }}", {{ first }});
    fictl::check_dim(kOp, "indices", *indices, 1);
  }
  check_out({{ out }}, indices.has_value() ? "indices" : "{{ first }}", indices.value_or({{ first }}));
  fictl::check_contiguous(kOp, "{{ out }}", {{ out }});
{{ cpp("  fictl::call(", ["kOp", first, project ~ "::" ~ family ~ "::" ~ name] + passed, ");") }}
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC({{ name }}, {{ name }});
