{% from "_macros/matrix_names.jinja" import x, declared with context %}
{% set values, indices = outputs[0].name, outputs[1].name %}
#include <binding/ffi.h>

namespace {{ project }}::{{ family }} {
{{ cpp("void " ~ name ~ "(", declared, ");") }}
}

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;

constexpr const char* kOp = "{{ name }}";

void check_k(int64_t k, View {{ x }}) {
  constexpr int64_t kMostCols = (int64_t{1} << 31) - 64;  // of whole vectors, within 32 bits
  if ({{ x }}.size(1) > kMostCols) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "{{ x }}")
                 << "has shape " << Shape{ {{- x -}} } << "; a row has at most " << kMostCols
                 << " elements");
  }
  if (k >= 0 && k <= {{ x }}.size(1)) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "k")
               << "is " << k << ", '{{ x }}' has rows of " << {{ x }}.size(1) << " elements");
}

// One for each of the k elements of every row.
void check_chosen(const char* name, View chosen, View {{ x }}, int64_t k) {
  fictl::check_same_device(kOp, name, chosen, "{{ x }}", {{ x }});
  const int64_t rows = {{ x }}.size(0);
  if (chosen.ndim() == 2 && chosen.size(0) == rows && chosen.size(1) == k) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, name)
               << "has shape " << Shape{chosen} << "; it is (" << rows << ", " << k << ")");
}

{{ cpp("void " ~ name ~ "(", spelled.views, ") {") }}
  fictl::check_device(kOp, "{{ x }}", {{ x }});
  fictl::check_dim(kOp, "{{ x }}", {{ x }}, 2);
  check_k(k, {{ x }});
  check_chosen("{{ values }}", {{ values }}, {{ x }}, k);
{{ cpp("  fictl::check_same_dtype(", ["kOp", '"' ~ values ~ '"', values, '"' ~ x ~ '"', x], ");") }}
  check_chosen("{{ indices }}", {{ indices }}, {{ x }}, k);
  fictl::check_dtype(kOp, "{{ indices }}", {{ indices }}, fictl::kInt32);
{{ cpp("  fictl::call(", ["kOp", x, project ~ "::" ~ family ~ "::" ~ name] + spelled.passed, ");") }}
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC({{ name }}, {{ name }});
