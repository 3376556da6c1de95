{% from "_macros/row_names.jinja" import out, names, rows with context %}
{% from "_macros/draw_views.jinja" import launched with context %}
{% set first = rows[0] %}
#include <binding/draws.h>
#include <binding/indices.h>
#include <binding/launch.h>
#include <binding/row_pitch.h>
#include <binding/sampled_rows.h>

#include <{{ project }}/{{ family }}/{{ name }}.cuh>

namespace {{ project }}::{{ family }} {

{% if project != "fictl" %}
using fictl::Launch;
using fictl::View;

{% endif %}
{{ cpp("void " ~ name ~ "(", launched, ") {") }}
  const int64_t tokens = {{ out }}.size(0);
{{ cpp("  fictl::check_row_length(", ["launch", '"' ~ first ~ '"', first, "sampler::kMostElements"], ");") }}
  DISPATCH_DTYPE(launch, {{ first }}, T, ({{ dtypes | map(attribute="cpp") | join(", ") }}), {
    {{ title }}Args<T> args;
    args.{{ out }} = {{ out }}.data<int32_t>();
{% for each in names %}
    args.{{ each }} = {{ each }}.data<const T>();
{% endfor %}
{% for each in scalars %}
    args.{{ each.name }} = {{ each.name if each.type == "bool" else "static_cast<float>(" ~ each.name ~ ")" }};
{% endfor %}
    if (indices != nullptr) {
      args.indices = fictl::indices<device::Indices>(launch, "indices", *indices, tokens);
    }
    args.draws = fictl::draws_of<sampler::Draws>(launch, seeds, offsets, seed, offset, tokens);
    args.tokens = tokens;
    args.rows = {{ first }}.size(0);
    args.cols = static_cast<int>({{ first }}.size(1));
{% for each in rows %}
    args.{{ each }}_pitch = ROW_PITCH(launch, {{ each }});
{% endfor %}
    CUDA_CHECK(launch, {{ title }}(args, launch.sm_count, launch.stream, launch.pdl));
  });
}

}  // namespace {{ project }}::{{ family }}
