{% from "_macros/matrix_names.jinja" import x, shown, declared with context %}
{% set out = outputs[0].name %}
#include <binding/ffi.h>

namespace {{ project }}::{{ family }} {
int64_t {{ name }}_workspace({{ shown }}View {{ x }});
{{ cpp("void " ~ name ~ "(", declared[:3] + [shown ~ "View workspace"] + declared[3:], ");") }}
}  // namespace {{ project }}::{{ family }}

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;

constexpr const char* kOp = "{{ name }}";

void check_workspace(View workspace, int64_t bytes) {
  if (workspace.contiguous() && workspace.numel() * workspace.dtype().bits / 8 >= bytes) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "workspace")
               << "has shape " << Shape{workspace} << "; expected " << bytes << " bytes");
}

int64_t {{ name }}_workspace(View {{ x }}) {
  fictl::check_dim(kOp, "{{ x }}", {{ x }}, 2);
  return {{ project }}::{{ family }}::{{ name }}_workspace({{ x }});
}

{{ cpp("void " ~ name ~ "(", spelled.views[:2] + ["View workspace"] + spelled.views[2:], ") {") }}
  fictl::check_device(kOp, "{{ x }}", {{ x }});
  fictl::check_dim(kOp, "{{ x }}", {{ x }}, 2);
{% for check in ["device", "dtype", "shape"] %}
{{ cpp("  fictl::check_same_" ~ check ~ "(", ["kOp", '"' ~ out ~ '"', out, '"' ~ x ~ '"', x], ");") }}
{% endfor %}
{{ cpp("  fictl::check_same_device(", ["kOp", '"workspace"', "workspace", '"' ~ x ~ '"', x], ");") }}
  check_workspace(workspace, {{ name }}_workspace({{ x }}));
{{ cpp("  fictl::call(", ["kOp", x, project ~ "::" ~ family ~ "::" ~ name] + spelled.passed[:2] + ["workspace"] + spelled.passed[2:], ");") }}
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC({{ name }}_workspace, {{ name }}_workspace);
TVM_FFI_DLL_EXPORT_TYPED_FUNC({{ name }}, {{ name }});
