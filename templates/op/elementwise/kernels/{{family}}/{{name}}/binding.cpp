#include <binding/ffi.h>

{% set ours = project == "fictl" %}
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

{{ cpp("void " ~ name ~ "(", spelled.views, ") {") }}
  fictl::check_device(__func__, "{{ inputs[0].name }}", {{ inputs[0].name }});
{% for tensor in outputs + inputs[1:] %}
{{ cpp("  fictl::check_same_device(", ["__func__", '"' ~ tensor.name ~ '"', tensor.name, '"' ~ inputs[0].name ~ '"', inputs[0].name], ");") }}
{{ cpp("  fictl::check_same_dtype(", ["__func__", '"' ~ tensor.name ~ '"', tensor.name, '"' ~ inputs[0].name ~ '"', inputs[0].name], ");") }}
{{ cpp("  fictl::check_same_shape(", ["__func__", '"' ~ tensor.name ~ '"', tensor.name, '"' ~ inputs[0].name ~ '"', inputs[0].name], ");") }}
{% endfor %}
{{ cpp("  fictl::call(", ["__func__", inputs[0].name, project ~ "::" ~ family ~ "::" ~ name] + spelled.passed, ");") }}
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC({{ name }}, {{ name }});
