{% from "_macros/row_names.jinja" import out, names, rows with context %}
#include <binding/launch.h>
#include <binding/row_pitch.h>

#include <{{ project }}/{{ family }}/{{ name }}.cuh>

namespace {{ project }}::{{ family }} {

{% if project != "fictl" %}
using fictl::Launch;
using fictl::View;

{% endif %}
{{ cpp("void " ~ name ~ "(", ["const Launch& launch"] + spelled.views, ") {") }}
{% set first = rows[0] %}
  DISPATCH_DTYPE(launch, {{ first }}, T, ({{ dtypes | map(attribute="cpp") | join(", ") }}), {
    {{ title }}Args<T> args;
    args.{{ out }} = {{ out }}.data<T>();
{% for each in names %}
    args.{{ each }} = {{ each }}.data<const T>();
{% endfor %}
{% for each in scalars %}
    args.{{ each.name }} = {{ each.name if each.type == "bool" else "static_cast<" ~ ("device::Wide<T>" if is_wide else "float") ~ ">(" ~ each.name ~ ")" }};
{% endfor %}
    args.cols = {{ first }}.size(-1);
    args.rows = args.cols == 0 ? 0 : {{ first }}.numel() / args.cols;
{% for each in rows %}
    args.{{ each }}_pitch = ROW_PITCH(launch, {{ each }});
{% endfor %}
    args.{{ out }}_pitch = WRITTEN_ROW_PITCH(launch, {{ out }});
    CUDA_CHECK(launch, {{ title }}(args, launch.stream, launch.pdl));
  });
}

}  // namespace {{ project }}::{{ family }}
