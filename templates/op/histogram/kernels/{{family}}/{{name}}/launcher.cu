{% from "_macros/matrix_names.jinja" import x, launched, in_cpp with context %}
{% set counts = outputs[0].name %}
#include <binding/launch.h>
#include <binding/row_pitch.h>

#include <{{ project }}/{{ family }}/{{ name }}.cuh>

namespace {{ project }}::{{ family }} {

{% if project != "fictl" %}
using fictl::Launch;
using fictl::View;

{% endif %}
{{ cpp("void " ~ name ~ "(", launched, ") {") }}
{{ cpp("  DISPATCH_DTYPE(", ["launch", x, "T", "(" ~ in_cpp | join(", ") ~ ")", "{"], "") }}
    {{ title }}Args<T> args;
    args.{{ counts }} = {{ counts }}.data<int32_t>();
    args.{{ x }} = {{ x }}.data<const T>();
    args.rows = {{ x }}.size(0);
    args.cols = {{ x }}.size(1);
    args.{{ x }}_pitch = ROW_PITCH(launch, {{ x }});
    args.bins = static_cast<int>(bins);
    args.low = static_cast<float>(low);
    args.high = static_cast<float>(high);
    CUDA_CHECK(launch, {{ title }}(args, launch.sm_count, launch.stream, launch.pdl));
  });
}

}  // namespace {{ project }}::{{ family }}
