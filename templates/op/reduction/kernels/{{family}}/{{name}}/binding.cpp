{% from "_macros/row_names.jinja" import out, names, vectors, rows with context %}
{% set first = rows[0] %}
{% set n = names | length + 1 %}
{% set views = spelled.views[:n] + ["View workspace"] + spelled.views[n:] %}
{% set passed = spelled.passed[:n] + ["workspace"] + spelled.passed[n:] %}
{% set shown = "" if project == "fictl" else "fictl::" %}
{% set qualified = ["const " ~ shown ~ "Launch& launch"] %}
{% for each in views %}
{% set _ = qualified.append(each | replace("View ", shown ~ "View ")) %}
{% endfor %}
{% set extremes = expression.stages | map(attribute="reduction") | select("in", ["max", "min"]) | list %}
#include <binding/ffi.h>

namespace {{ project }}::{{ family }} {
int64_t {{ name }}_workspace({{ shown }}View {{ first }});
{{ cpp("void " ~ name ~ "(", qualified, ");") }}
}  // namespace {{ project }}::{{ family }}

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;

constexpr const char* kOp = "{{ name }}";

{% include "_macros/row_checks.cpp" %}
void check_rows(View {{ out }}, View {{ first }}) {
  bool same = {{ out }}.ndim() == {{ first }}.ndim() - 1;
  for (int dim = 0; same && dim < {{ out }}.ndim(); ++dim) same = {{ out }}.size(dim) == {{ first }}.size(dim);
  if (same) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "{{ out }}")
               << "has shape " << Shape{ {{- out -}} } << ", '{{ first }}' has " << Shape{ {{- first -}} }
               << "; it has one value for each row");
}

{% if extremes %}
void check_not_empty(View {{ first }}) {
  if ({{ first }}.size(-1) > 0) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "{{ first }}")
               << "has shape " << Shape{ {{- first -}} } << ": rows without elements have no {{ extremes[0] }}");
}

{% endif %}
void check_workspace(View workspace, int64_t bytes) {
  if (workspace.contiguous() && workspace.numel() * workspace.dtype().bits / 8 >= bytes) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "workspace")
               << "has shape " << Shape{workspace} << "; expected " << bytes << " bytes");
}

int64_t {{ name }}_workspace(View {{ first }}) {
  fictl::check_dim(kOp, "{{ first }}", {{ first }}, {{ roles.rows | length + 1 }});
  return {{ project }}::{{ family }}::{{ name }}_workspace({{ first }});
}

{{ cpp("void " ~ name ~ "(", views, ") {") }}
  fictl::check_device(kOp, "{{ first }}", {{ first }});
{% for each in [out] + rows[1:] + vectors %}
{{ cpp("  fictl::check_same_device(", ["kOp", '"' ~ each ~ '"', each, '"' ~ first ~ '"', first], ");") }}
{{ cpp("  fictl::check_same_dtype(", ["kOp", '"' ~ each ~ '"', each, '"' ~ first ~ '"', first], ");") }}
{% endfor %}
  fictl::check_dim(kOp, "{{ first }}", {{ first }}, {{ roles.rows | length + 1 }});
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
{% if extremes %}
  check_not_empty({{ first }});
{% endif %}
  check_rows({{ out }}, {{ first }});
  fictl::check_contiguous(kOp, "{{ out }}", {{ out }});
{{ cpp("  fictl::check_same_device(", ["kOp", '"workspace"', 'workspace', '"' ~ first ~ '"', first], ");") }}
  check_workspace(workspace, {{ name }}_workspace({{ first }}));
{{ cpp("  fictl::call(", ["kOp", first, project ~ "::" ~ family ~ "::" ~ name] + passed, ");") }}
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC({{ name }}_workspace, {{ name }}_workspace);
TVM_FFI_DLL_EXPORT_TYPED_FUNC({{ name }}, {{ name }});
