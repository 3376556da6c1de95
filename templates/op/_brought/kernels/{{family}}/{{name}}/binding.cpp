#include <binding/ffi.h>

{% set ours = project == "fictl" %}
{% set first = inputs[0].name %}
{% set declared = cpp("void " ~ name ~ "(", ["const Launch& launch"] + spelled.views, ");") %}
namespace {{ project }}::{{ family }} {
{% if not ours %}
using fictl::Launch;
using fictl::View;
{% endif %}
{{ declared }}
}{{ "  // namespace " ~ project ~ "::" ~ family if not ours or "\n" in declared }}

namespace {

using fictl::View;

{% if not brought.any_shape and sizes.checks() | list %}
// The kernel gets pointers only: sizes that disagree would make it read other memory.
void check_size(const char* op, const char* name, View x, int dim, const char* axis, int64_t size) {
  if (x.size(dim) == size) return;
  fictl::raise(fictl::argument_error(fictl::ErrorKind::ValueError, op, name)
               << "has shape " << fictl::Shape{x} << ", where " << axis << " is " << size);
}

{% endif %}
{{ cpp("void " ~ name ~ "(", spelled.views, ") {") }}
{{ cpp("  fictl::check_device(", ["__func__", '"' ~ first ~ '"', first], ");") }}
{{ cpp("  fictl::check_contiguous(", ["__func__", '"' ~ first ~ '"', first], ");") }}
{% for tensor in inputs[1:] + outputs %}
{{ cpp("  fictl::check_same_device(", ["__func__", '"' ~ tensor.name ~ '"', tensor.name, '"' ~ first ~ '"', first], ");") }}
  fictl::check_contiguous(__func__, "{{ tensor.name }}", {{ tensor.name }});
{% endfor %}
{% for tensor in inputs + outputs %}
{% if tensor.dtype %}
{% set dtype = parse_dtype(tensor.dtype) %}
{{ cpp("  fictl::check_dtype(", ["__func__", tensor.name | tojson, tensor.name, "DLDataType{" ~ dtype.code ~ ", " ~ dtype.bits ~ ", " ~ dtype.lanes ~ "}"], ");") }}
{% elif tensor.name != case.name %}
{{ cpp("  fictl::check_same_dtype(", ["__func__", '"' ~ tensor.name ~ '"', tensor.name, '"' ~ case.name ~ '"', case.name], ");") }}
{% endif %}
{% endfor %}
{% if brought.any_shape %}
{% for tensor in inputs[1:] + outputs %}
{{ cpp("  fictl::check_same_shape(", ["__func__", '"' ~ tensor.name ~ '"', tensor.name, '"' ~ first ~ '"', first], ");") }}
{% endfor %}
{% else %}
{% for tensor in inputs + outputs %}
  fictl::check_dim(__func__, "{{ tensor.name }}", {{ tensor.name }}, {{ tensor.axes | length }});
{% endfor %}
{% for tensor, dim, axis, size in sizes.checks() %}
{{ cpp("  check_size(", ["__func__", tensor | tojson, tensor, dim | string, axis | tojson, size], ");") }}
{% endfor %}
{% endif %}
{{ cpp("  fictl::call(", ["__func__", first, project ~ "::" ~ family ~ "::" ~ name] + spelled.passed, ");") }}
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC({{ name }}, {{ name }});
