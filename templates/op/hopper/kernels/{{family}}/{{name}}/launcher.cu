{% from "_macros/row_names.jinja" import out, names with context %}
{% set first = names[0] %}
#include <binding/launch.h>
#include <binding/row_pitch.h>
#include <binding/tensor_map.h>

#include <{{ project }}/{{ family }}/{{ name }}.cuh>

namespace {{ project }}::{{ family }} {

{% if project != "fictl" %}
using fictl::Launch;
using fictl::View;

{% endif %}
{% set maps = ['map("' ~ out ~ '", ' ~ out ~ ", Tile::kWarpRows)"] %}
{% for each in names %}
{% set _ = maps.append('map("' ~ each ~ '", ' ~ each ~ ", Tile::kRows)") %}
{% endfor %}
{% set numbers = [] %}
{% for scalar in scalars %}
{% set _ = numbers.append(scalar.name if scalar.type == "bool" else "static_cast<float>(" ~ scalar.name ~ ")") %}
{% endfor %}
{{ cpp("void " ~ name ~ "(", ["const Launch& launch"] + spelled.views, ") {") }}
  if ({{ out }}.numel() == 0) return;
  const int64_t cols = {{ first }}.size(-1);
  const int64_t rows = {{ first }}.numel() / cols;
  DISPATCH_DTYPE(launch, {{ first }}, T, ({{ dtypes | map(attribute="cpp") | join(", ") }}), {
    using Tile = {{ title }}Tile<T>;
    const auto map = [&](const char* argument, View x, int box_rows) {
      // Why as if it were written: a map has no row that overlaps another one.
      const int64_t pitch = fictl::row_pitch(launch.op, argument, x, /*written=*/true);
{{ cpp("      return fictl::tensor_map(", ["launch", "argument", name ~ "_map(x.data<const T>(), rows, cols, pitch, box_rows)"], ");") }}
    };
{{ cpp("    CUDA_CHECK(launch, " ~ title ~ "<T>(", maps + numbers + ["rows", "cols", "launch.sm_count", "launch.stream", "launch.pdl"], "));") }}
  });
}

}  // namespace {{ project }}::{{ family }}
