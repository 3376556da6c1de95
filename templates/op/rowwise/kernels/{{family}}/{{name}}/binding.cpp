{% from "_macros/row_names.jinja" import out, vectors, rows with context %}
{% set first = rows[0] %}
#include <binding/ffi.h>

{% include "_macros/declared.cpp" %}

namespace {

using fictl::View;

{% include "_macros/row_checks.cpp" %}
{{ cpp("void " ~ name ~ "(", spelled.views, ") {") }}
  CHECK_CUDA({{ first }});
{% for each in [out] + rows[1:] + vectors %}
  CHECK_SAME_DEVICE({{ each }}, {{ first }});
  CHECK_SAME_DTYPE({{ each }}, {{ first }});
{% endfor %}
  CHECK_DIM({{ first }}, {{ roles.rows | length + 1 }});
{% for each in [out] + rows[1:] %}
  CHECK_SAME_SHAPE({{ each }}, {{ first }});
{% endfor %}
{% for each in vectors %}
  CHECK_DIM({{ each }}, 1);
{{ cpp("  check_length(", ["__func__", '"' ~ each ~ '"', each, '"' ~ first ~ '"', first], ");") }}
  CHECK_CONTIGUOUS({{ each }});
{% endfor %}
{% for axis in axes if axis.size %}
{{ cpp("  check_size(", ["__func__", '"' ~ first ~ '"', first, (roles.rows + roles.cols).index(axis.name) ~ "", axis.size ~ ""], ");") }}
{% endfor %}
{{ cpp("  fictl::call(", ["__func__", first, project ~ "::" ~ family ~ "::" ~ name] + spelled.passed, ");") }}
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC({{ name }}, {{ name }});
