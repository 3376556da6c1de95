{% from "_macros/row_names.jinja" import out, names, rows with context %}
{% set first = rows[0] %}
{% set wide = "device::Wide<T>" if is_wide else "float" %}
#include <binding/launch.h>
#include <binding/row_pitch.h>

#include <{{ project }}/{{ family }}/{{ name }}.cuh>

namespace {{ project }}::{{ family }} {

{% if project != "fictl" %}
using fictl::Launch;
using fictl::View;

{% endif %}
// The bytes of the workspace, for the results of pieces.
int64_t {{ name }}_workspace(View {{ first }}) {
  const int64_t cols = {{ first }}.size(-1);
  const int64_t pieces = {{ title }}Pieces(cols * {{ first }}.dtype().bits / 8);
  if (pieces == 1) return 0;
  return {{ first }}.numel() / cols * pieces * k{{ title }}Stages * sizeof({{ "double" if is_wide else "float" }});
}

{{ cpp("void " ~ name ~ "(", ["const Launch& launch"] + spelled.views[:names | length + 1] + ["View workspace"] + spelled.views[names | length + 1:], ") {") }}
  DISPATCH_DTYPE(launch, {{ first }}, T, ({{ dtypes | map(attribute="cpp") | join(", ") }}), {
    {{ title }}Args<T> args;
    args.{{ out }} = {{ out }}.data<T>();
{% for each in names %}
    args.{{ each }} = {{ each }}.data<const T>();
{% endfor %}
{% for each in scalars %}
    args.{{ each.name }} = {{ each.name if each.type == "bool" else "static_cast<" ~ wide ~ ">(" ~ each.name ~ ")" }};
{% endfor %}
    args.cols = {{ first }}.size(-1);
    args.rows = {{ out }}.numel();
{% for each in rows %}
    args.{{ each }}_pitch = ROW_PITCH(launch, {{ each }});
{% endfor %}
    args.results = workspace.data<{{ wide }}>();
    CUDA_CHECK(launch, {{ title }}(args, launch.stream, launch.pdl));
  });
}

}  // namespace {{ project }}::{{ family }}
