{% from "_macros/row_names.jinja" import out, vectors, rows with context %}
{% set first = rows[0] %}
#include <binding/ffi.h>

{% include "_macros/declared.cpp" %}

namespace {

using fictl::View;

{% include "_macros/row_checks.cpp" %}
{{ cpp("void " ~ name ~ "(", spelled.views, ") {") }}
  fictl::check_device(__func__, "{{ first }}", {{ first }});
{% for each in [out] + rows[1:] + vectors %}
{{ cpp("  fictl::check_same_device(", ["__func__", '"' ~ each ~ '"', each, '"' ~ first ~ '"', first], ");") }}
{{ cpp("  fictl::check_same_dtype(", ["__func__", '"' ~ each ~ '"', each, '"' ~ first ~ '"', first], ");") }}
{% endfor %}
  fictl::check_dim(__func__, "{{ first }}", {{ first }}, {{ roles.rows | length + 1 }});
{% for each in [out] + rows[1:] %}
{{ cpp("  fictl::check_same_shape(", ["__func__", '"' ~ each ~ '"', each, '"' ~ first ~ '"', first], ");") }}
{% endfor %}
{% for each in vectors %}
  fictl::check_dim(__func__, "{{ each }}", {{ each }}, 1);
{{ cpp("  check_length(", ["__func__", '"' ~ each ~ '"', each, '"' ~ first ~ '"', first], ");") }}
  fictl::check_contiguous(__func__, "{{ each }}", {{ each }});
{% endfor %}
{% for axis in axes if axis.size %}
{{ cpp("  check_size(", ["__func__", '"' ~ first ~ '"', first, (roles.rows + roles.cols).index(axis.name) ~ "", axis.size ~ ""], ");") }}
{% endfor %}
{{ cpp("  fictl::call(", ["__func__", first, project ~ "::" ~ family ~ "::" ~ name] + spelled.passed, ");") }}
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC({{ name }}, {{ name }});
