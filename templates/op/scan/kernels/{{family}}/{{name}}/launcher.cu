{% from "_macros/matrix_names.jinja" import x, launched, in_cpp with context %}
{% set out = outputs[0].name %}
#include <binding/launch.h>
#include <binding/row_pitch.h>

#include <{{ project }}/{{ family }}/{{ name }}.cuh>

namespace {{ project }}::{{ family }} {

{% if project != "fictl" %}
using fictl::Launch;
using fictl::View;

{% endif %}
// The bytes of the workspace, for the sums of pieces.
int64_t {{ name }}_workspace(View {{ x }}) {
  constexpr int64_t kSumBytes = 8;
  const int64_t pieces = {{ title }}Pieces({{ x }}.size(1) * {{ x }}.dtype().bits / 8);
  return pieces > 1 ? {{ x }}.size(0) * pieces * kSumBytes : 0;
}

{{ cpp("void " ~ name ~ "(", launched[:3] + ["View workspace"] + launched[3:], ") {") }}
{{ cpp("  DISPATCH_DTYPE(", ["launch", x, "T", "(" ~ in_cpp | join(", ") ~ ")", "{"], "") }}
    {{ title }}Args<T> args;
    args.{{ out }} = {{ out }}.data<T>();
    args.{{ x }} = {{ x }}.data<const T>();
    args.rows = {{ x }}.size(0);
    args.cols = {{ x }}.size(1);
    args.{{ out }}_pitch = WRITTEN_ROW_PITCH(launch, {{ out }});
    args.{{ x }}_pitch = ROW_PITCH(launch, {{ x }});
    args.exclusive = exclusive;
    args.results = workspace.data<{{ title }}Sum<T>>();
    CUDA_CHECK(launch, {{ title }}(args, launch.sm_count, launch.stream, launch.pdl));
  });
}

}  // namespace {{ project }}::{{ family }}
