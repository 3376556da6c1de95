{% set q, k, v, out = inputs[0].name, inputs[1].name, inputs[2].name, outputs[0].name %}
#include <binding/launch.h>
#include <limits.h>

#include <{{ project }}/{{ family }}/{{ name }}.cuh>

#include "config.inc"

namespace {{ project }}::{{ family }} {

{% if project != "fictl" %}
using fictl::Launch;
using fictl::View;

{% endif %}
namespace {

template <typename T>
fictl::attention::Heads<T> heads_of(View x) {
  return {x.data<T>(), x.stride(0), x.stride(1)};
}

}  // namespace

// A line of `work` is an Item of <fictl/attention/work.cuh>.
{{ cpp("void " ~ name ~ "(", ["const Launch& launch"] + spelled.views + ["View work", "bool causal", "double scale"], ") {") }}
  if (work.size(0) == 0) return;
  using T = Config::Q;
  fictl::attention::Problem<Config> problem{};
  problem.q = heads_of<const T>({{ q }});
  problem.keys = {heads_of<const T>({{ k }}), heads_of<const T>({{ v }})};
  problem.out = heads_of<T>({{ out }});
  problem.items = work.data<const fictl::attention::Item>();
  problem.item_count = static_cast<int>(work.size(0));
  problem.kv_heads = static_cast<int>({{ k }}.size(1));
{{ cpp("  problem.group = fictl::device::Divisor(", ["static_cast<int>(" ~ q ~ ".size(1) / " ~ k ~ ".size(1))"], ");") }}
  problem.scale = static_cast<float>(scale);
  problem.v_scale = 1.0f;
  problem.window_left = INT_MAX;
  problem.causal = causal;
{% for each in scalars %}
  problem.variant.{{ expression.fields[each.name] }} = {{ each.name if each.type == "bool" else "static_cast<" ~ each.type ~ ">(" ~ each.name ~ ")" }};
{% endfor %}
{% for each in scalars if each.name in expression.divisors %}
{% set of, field = "problem.variant." ~ expression.fields[each.name], expression.divisors[each.name] %}
  problem.variant.{{ field }} = {{ "1.0f / " ~ of if each.type == "float" else "fictl::device::FloorDivisor(" ~ of ~ ")" }};
{% endfor %}
  CUDA_CHECK(launch, fictl::attention::Attend(problem, launch.stream, launch.pdl));
}

}  // namespace {{ project }}::{{ family }}
