{% set out, x = outputs[0].name, inputs[1].name %}
#include <binding/ffi.h>

namespace {{ project }}::{{ family }} {

{% if project != "fictl" %}
using fictl::Launch;
using fictl::View;

{% endif %}
{{ cpp("void " ~ name ~ "(", ["const Launch& launch", "View " ~ out, "View " ~ x, "View plan", "View workspace", "int64_t item_count"], ");") }}

}  // namespace {{ project }}::{{ family }}

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;

constexpr const char* kOp = "{{ title }}";

void check_row_count(View input, int64_t rows) {
  if (input.size(0) >= rows) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "{{ x }}")
               << "has shape " << Shape{input} << ", the plan is for " << rows << " rows");
}

void check_output_shape(View output, int64_t segments, int64_t dim) {
  if (output.ndim() == 2 && output.size(0) == segments && output.size(1) == dim) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "{{ out }}")
               << "has shape " << Shape{output} << "; the plan has " << segments
               << " segments, and a row " << dim << " elements");
}

// `rows` and `segments` are the plan's, of which `item_count` lines are items.
{{ cpp("void " ~ name ~ "(", ["View " ~ out, "View " ~ x, "View plan", "View workspace", "int64_t item_count", "int64_t rows", "int64_t segments"], ") {") }}
  fictl::check_device(kOp, "{{ x }}", {{ x }});
  fictl::check_dim(kOp, "{{ x }}", {{ x }}, 2);
  check_row_count({{ x }}, rows);
  fictl::check_last_dim_contiguous(kOp, "{{ x }}", {{ x }});
{{ cpp("  fictl::check_same_device(", ["kOp", "\"" ~ out ~ "\"", out, "\"" ~ x ~ "\"", x], ");") }}
{{ cpp("  fictl::check_same_dtype(", ["kOp", "\"" ~ out ~ "\"", out, "\"" ~ x ~ "\"", x], ");") }}
  check_output_shape({{ out }}, segments, {{ x }}.size(1));
  fictl::check_contiguous(kOp, "{{ out }}", {{ out }});
  fictl::check_same_device(kOp, "plan", plan, "{{ x }}", {{ x }});
{{ cpp("  fictl::call(", ["kOp", x, project ~ "::" ~ family ~ "::" ~ name, out, x, "plan", "workspace", "item_count"], ");") }}
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC({{ name }}, {{ name }});
