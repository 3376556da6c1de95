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
// The kernel sees pointers only: sizes that do not agree would be reads of other memory.
void check_size(const char* op, const char* name, View x, int dim, const char* axis, int64_t size) {
  if (x.size(dim) == size) return;
  fictl::raise(fictl::argument_error(fictl::ErrorKind::ValueError, op, name)
               << "has shape " << fictl::Shape{x} << ", where " << axis << " is " << size);
}

{% endif %}
{% set typed = (inputs + outputs) | selectattr("dtype") | list %}
{% if typed %}
void check_dtype(const char* op, const char* name, View x, DLDataType dtype, const char* wanted) {
  if (fictl::same_dtype(x.dtype(), dtype)) return;
  fictl::raise(fictl::argument_error(fictl::ErrorKind::TypeError, op, name)
               << "has dtype " << x.dtype() << "; accepted: " << wanted);
}

{% endif %}
{{ cpp("void " ~ name ~ "(", spelled.views, ") {") }}
  CHECK_INPUT({{ first }});
{% for tensor in inputs[1:] + outputs %}
  CHECK_SAME_DEVICE({{ tensor.name }}, {{ first }});
  CHECK_CONTIGUOUS({{ tensor.name }});
{% endfor %}
{% for tensor in inputs + outputs %}
{% if tensor.dtype %}
{% set dtype = parse_dtype(tensor.dtype) %}
{{ cpp("  check_dtype(", ["__func__", tensor.name | tojson, tensor.name, "{" ~ dtype.code ~ ", " ~ dtype.bits ~ ", " ~ dtype.lanes ~ "}", dtype.name | tojson], ");") }}
{% elif tensor.name != case.name %}
  CHECK_SAME_DTYPE({{ tensor.name }}, {{ case.name }});
{% endif %}
{% endfor %}
{% if brought.any_shape %}
{% for tensor in inputs[1:] + outputs %}
  CHECK_SAME_SHAPE({{ tensor.name }}, {{ first }});
{% endfor %}
{% else %}
{% for tensor in inputs + outputs %}
  CHECK_DIM({{ tensor.name }}, {{ tensor.axes | length }});
{% endfor %}
{% for tensor, dim, axis, size in sizes.checks() %}
{{ cpp("  check_size(", ["__func__", tensor | tojson, tensor, dim | string, axis | tojson, size], ");") }}
{% endfor %}
{% endif %}
{{ cpp("  fictl::call(", ["__func__", first, project ~ "::" ~ family ~ "::" ~ name] + spelled.passed, ");") }}
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC({{ name }}, {{ name }});
