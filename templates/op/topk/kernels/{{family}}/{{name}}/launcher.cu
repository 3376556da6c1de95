{% from "_macros/matrix_names.jinja" import x, launched, in_cpp with context %}
{% set values, indices = outputs[0].name, outputs[1].name %}
#include <binding/launch.h>
#include <binding/row_pitch.h>

#include <{{ project }}/{{ family }}/{{ name }}.cuh>

namespace {{ project }}::{{ family }} {

{% if project != "fictl" %}
using fictl::Launch;
using fictl::View;

{% endif %}
namespace {

void check_k(const Launch& launch, int64_t k) {
  if (k <= k{{ title }}Most) return;
  throw fictl::argument_error(fictl::ErrorKind::ValueError, launch.op, "k")
      << "is " << k << "; the kernel chooses up to " << k{{ title }}Most;
}

}  // namespace

{{ cpp("void " ~ name ~ "(", launched, ") {") }}
  check_k(launch, k);
{{ cpp("  DISPATCH_DTYPE(", ["launch", x, "T", "(" ~ in_cpp | join(", ") ~ ")", "{"], "") }}
    {{ title }}Args<T> args;
    args.{{ values }} = {{ values }}.data<T>();
    args.{{ indices }} = {{ indices }}.data<int32_t>();
    args.{{ x }} = {{ x }}.data<const T>();
    args.rows = {{ x }}.size(0);
    args.cols = static_cast<int>({{ x }}.size(1));
    args.k = static_cast<int>(k);
    args.{{ values }}_pitch = WRITTEN_ROW_PITCH(launch, {{ values }});
    args.{{ indices }}_pitch = WRITTEN_ROW_PITCH(launch, {{ indices }});
    args.{{ x }}_pitch = ROW_PITCH(launch, {{ x }});
    CUDA_CHECK(launch, {{ title }}(args, launch.stream, launch.pdl));
  });
}

}  // namespace {{ project }}::{{ family }}
