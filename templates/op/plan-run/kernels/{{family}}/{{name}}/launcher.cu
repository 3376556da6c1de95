{% set out, x = outputs[0].name, inputs[1].name %}
#include <binding/launch.h>

#include <{{ project }}/{{ family }}/{{ name }}.cuh>

namespace {{ project }}::{{ family }} {

{% if project != "fictl" %}
using fictl::Launch;
using fictl::View;

{% endif %}
namespace {

// Why not always the stride: that of a dimension of size 1 is undefined.
int64_t pitch_of(View x) { return x.size(0) > 1 ? x.stride(0) : x.size(1); }

}  // namespace

{{ cpp("void " ~ name ~ "(", ["const Launch& launch", "View " ~ out, "View " ~ x, "View plan", "View workspace", "int64_t item_count"], ") {") }}
  const auto* items = plan.data<const {{ title }}Item>();
  const {{ title }}Plan counted{items, item_count, plan.size(0) - item_count};
  const int64_t dim = {{ x }}.size(1);
  const int64_t pitch = pitch_of({{ x }});
{{ cpp("  DISPATCH_DTYPE(", ["launch", x, "T", "(" ~ dtypes | map(attribute="cpp") | join(", ") ~ ")", "{"], "") }}
    const auto sum = {{ title }}<T>;
    const T* from = {{ x }}.data<const T>();
    T* to = {{ out }}.data<T>();
    CUDA_CHECK(launch, sum(from, counted, to, workspace.data<float>(), dim, pitch, launch.stream,
                           launch.pdl));
  });
}

}  // namespace {{ project }}::{{ family }}
