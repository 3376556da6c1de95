{% set q, k, v, out = inputs[0].name, inputs[1].name, inputs[2].name, outputs[0].name %}
{% set more = ["View work", "bool causal", "double scale"] %}
#include <binding/ffi.h>

{% set views = [] %}
{% for each in ["const Launch& launch"] + spelled.views + more %}
{% set _ = views.append(each if project == "fictl" else each | replace("View ", "fictl::View ") | replace("const Launch", "const fictl::Launch")) %}
{% endfor %}
namespace {{ project }}::{{ family }} {
{{ cpp("void " ~ name ~ "(", views, ");") }}
}

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::Strides;
using fictl::View;

constexpr const char* kOp = "{{ name }}";

// The kernel copies 16 bytes at a time: strides of tokens and heads are multiples of that.
void check_heads(const char* name, View x) {
  fictl::check_last_dim_contiguous(kOp, name, x);
  constexpr int64_t kElements = 8;
  const auto apart = [&](int dim) { return x.size(dim) <= 1 || x.stride(dim) % kElements == 0; };
  fictl::check_aligned(kOp, name, x, 16);
  if (x.numel() == 0 || (apart(0) && apart(1))) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, name)
               << "has strides " << Strides{x} << ": heads must be aligned to 16 bytes; pass "
               << name << ".clone()");
}

{{ cpp("void " ~ name ~ "(", spelled.views + more, ") {") }}
  fictl::check_device(kOp, "{{ q }}", {{ q }});
{% for each in [k, v, out] %}
{{ cpp("  fictl::check_same_device(", ["kOp", '"' ~ each ~ '"', each, '"' ~ q ~ '"', q], ");") }}
{{ cpp("  fictl::check_same_dtype(", ["kOp", '"' ~ each ~ '"', each, '"' ~ q ~ '"', q], ");") }}
{% endfor %}
{{ cpp("  fictl::check_same_shape(", ["kOp", '"' ~ v ~ '"', v, '"' ~ k ~ '"', k], ");") }}
{{ cpp("  fictl::check_same_shape(", ["kOp", '"' ~ out ~ '"', out, '"' ~ q ~ '"', q], ");") }}
{% for each in [q, k, v, out] %}
  check_heads("{{ each }}", {{ each }});
{% endfor %}
  fictl::check_contiguous(kOp, "{{ out }}", {{ out }});
{{ cpp("  fictl::call(", ["kOp", q, project ~ "::" ~ family ~ "::" ~ name] + spelled.passed + ["work", "causal", "scale"], ");") }}
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC({{ name }}, {{ name }});
