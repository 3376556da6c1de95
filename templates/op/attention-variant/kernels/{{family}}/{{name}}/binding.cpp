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

// Tokens and heads are at any multiple of 16 bytes: the kernel copies as many at once.
void check_heads(const char* name, View x) {
  fictl::check_neighbours(kOp, name, x, "head");
  constexpr int64_t kElements = 8;
  const auto apart = [&](int dim) { return x.size(dim) <= 1 || x.stride(dim) % kElements == 0; };
  const bool aligned = reinterpret_cast<uintptr_t>(x.data<void>()) % 16 == 0;
  if (x.numel() == 0 || (apart(0) && apart(1) && aligned)) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, name)
               << "has strides " << Strides{x} << ": heads are not at multiples of 16 bytes; pass "
               << name << ".clone()");
}

{{ cpp("void " ~ name ~ "(", spelled.views + more, ") {") }}
  CHECK_CUDA({{ q }});
{% for each in [k, v, out] %}
  CHECK_SAME_DEVICE({{ each }}, {{ q }});
  CHECK_SAME_DTYPE({{ each }}, {{ q }});
{% endfor %}
  CHECK_SAME_SHAPE({{ v }}, {{ k }});
  CHECK_SAME_SHAPE({{ out }}, {{ q }});
{% for each in [q, k, v, out] %}
  check_heads("{{ each }}", {{ each }});
{% endfor %}
  CHECK_CONTIGUOUS({{ out }});
{{ cpp("  fictl::call(", ["kOp", q, project ~ "::" ~ family ~ "::" ~ name] + spelled.passed + ["work", "causal", "scale"], ");") }}
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC({{ name }}, {{ name }});
