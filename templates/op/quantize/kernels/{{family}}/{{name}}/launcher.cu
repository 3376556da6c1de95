{% from "_macros/matrix_names.jinja" import x, launched, in_cpp with context %}
{% set q, scales = outputs[0].name, outputs[1].name %}
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
    args.{{ q }} = {{ q }}.data<{{ title }}To>();
    args.{{ scales }} = {{ scales }}.data<float>();
    args.{{ x }} = {{ x }}.data<const T>();
    args.rows = {{ x }}.size(0);
    args.groups = {{ x }}.size(1) / group_size;
    args.group_size = group_size;
    args.{{ q }}_pitch = WRITTEN_ROW_PITCH(launch, {{ q }});
    args.{{ x }}_pitch = ROW_PITCH(launch, {{ x }});
    CUDA_CHECK(launch, {{ title }}(args, launch.stream, launch.pdl));
  });
}

}  // namespace {{ project }}::{{ family }}
