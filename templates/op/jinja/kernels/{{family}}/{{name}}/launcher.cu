{% from "_macros/row_names.jinja" import out, names, rows with context %}
{% set first = rows[0] %}
#include <binding/launch.h>
#include <binding/row_pitch.h>

#include <{{ project }}/{{ family }}/{{ name }}.cuh>

#include "config.inc"

namespace {{ project }}::{{ family }} {

{% if project != "fictl" %}
using fictl::Launch;
using fictl::View;

{% endif %}
{{ cpp("void " ~ name ~ "(", ["const Launch& launch"] + spelled.views, ") {") }}
  using Config = {{ title }}Config;
  using T = Config::T;
  {{ title }}Args<Config> args;
  args.{{ out }} = {{ out }}.data<T>();
{% for each in names %}
  args.{{ each }} = {{ each }}.data<const T>();
{% endfor %}
{% for each in scalars %}
  args.{{ each.name }} = {{ each.name if each.type == "bool" else "static_cast<" ~ ("device::Wide<T>" if is_wide else "float") ~ ">(" ~ each.name ~ ")" }};
{% endfor %}
  args.rows = {{ first }}.numel() / Config::kCols;
{% for each in rows %}
  args.{{ each }}_pitch = ROW_PITCH(launch, {{ each }});
{% endfor %}
  args.{{ out }}_pitch = WRITTEN_ROW_PITCH(launch, {{ out }});
  CUDA_CHECK(launch, {{ title }}(args, launch.stream, launch.pdl));
}

}  // namespace {{ project }}::{{ family }}
