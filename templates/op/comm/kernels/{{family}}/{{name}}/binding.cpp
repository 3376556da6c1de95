{% set x, out = inputs[0].name, outputs[0].name %}
{% set shown = "" if project == "fictl" else "fictl::" %}
#include <binding/ffi.h>
#include <binding/parts.h>

namespace {{ project }}::{{ family }} {
{{ cpp("void " ~ name ~ "(", ["const " ~ shown ~ "Launch& launch", shown ~ "View " ~ out, shown ~ "View " ~ x, shown ~ "View host_peers"], ");") }}
}  // namespace {{ project }}::{{ family }}

namespace {

{{ cpp("void " ~ name ~ "(", ["fictl::View " ~ out, "fictl::View " ~ x, "fictl::View workspace", "fictl::View host_peers", "int64_t ranks"], ") {") }}
  fictl::check_device(__func__, "{{ x }}", {{ x }});
{% for checked in [out, "workspace"] %}
{{ cpp("  fictl::check_same_device(", ["__func__", '"' ~ checked ~ '"', checked, '"' ~ x ~ '"', x], ");") }}
{% endfor %}
{{ cpp("  fictl::check_same_dtype(", ["__func__", '"' ~ out ~ '"', out, '"' ~ x ~ '"', x], ");") }}
{% for checked in [x, out] %}
  fictl::check_contiguous(__func__, "{{ checked }}", {{ checked }});
  fictl::check_aligned(__func__, "{{ checked }}", {{ checked }}, 16);
{% endfor %}
{{ cpp("  fictl::check_parts(", ["__func__", '"' ~ out ~ '"', out, '"' ~ x ~ '"', x, "ranks"], ");") }}
{{ cpp("  fictl::call(", ["__func__", x, project ~ "::" ~ family ~ "::" ~ name, out, x, "host_peers"], ");") }}
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC({{ name }}, {{ name }});
