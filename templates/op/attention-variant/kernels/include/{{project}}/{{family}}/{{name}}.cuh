{% from "_macros/comment.jinja" import comment %}
{% set code = expression.cpp() %}
{% set place = "const fictl::attention::Place&" ~ (" at" if "at." in code) %}
{{ comment(name ~ ": " ~ about[:1] | lower ~ about[1:]) }}
//
// The kernel is that of <fictl/attention/attend.cuh>. A block has a tile of queries, walks over the
// keys in tiles of shared memory, and keeps the running maximum and sum of the softmax, so that
// scores never reach memory. Its header gives its traffic and the reasons of its tiling.
//
{% if expression.is_mask %}
// The mask is asked once for each score, between the two products: does the query see this key?
// Where a whole tile of keys is hidden, it is cheaper not to visit it: see `end` in op.py's _work.
{% else %}
// The transform runs once for each score, between the two products: some ten instructions of it
// take as long as the products do. Pass what is the same for all scores as a scalar.
{% endif %}
#pragma once

#include <fictl/attention/attend.cuh>
{% for header in expression.headers %}
#include <fictl/device/{{ header }}.cuh>
{% endfor %}

namespace {{ project }}::{{ family }} {

{% if expression.is_mask %}
{{ comment("A query sees a key where " ~ expression ~ ".") }}
{% else %}
{{ comment("The logit becomes " ~ expression ~ ".") }}
{% endif %}
struct {{ title }}Variant : fictl::attention::Plain {
{% for each in scalars %}
  {{ {"float": "float", "int": "int", "bool": "bool"}[each.type] }} {{ expression.fields[each.name] }};
{% endfor %}
{% for each in scalars if each.name in expression.divisors %}
{% set field = expression.divisors[each.name] %}
  {{ "float " ~ field ~ ";  // 1 / " ~ each.name if each.type == "float" else "fictl::device::FloorDivisor " ~ field ~ ";" }}
{% endfor %}
{% if scalars %}

{% endif %}
{% if expression.is_mask %}
  static constexpr bool kMasks = true;
{{ cpp("  __device__ bool keeps(", [place], ") const {") }}
{% else %}
  static constexpr bool kTransforms = true;
{{ cpp("  __device__ float transform(", ["float logit", place], ") const {") }}
{% endif %}
{{ cpp_value("    return ", code) }}
  }
};

// The parameters that a kernel is compiled for. A tile's rows are queries, one row for each of
// their heads that share a head of the keys.
template <typename T, int kDim, int kTileRows>
struct {{ title }}Config {
  using Q = T;
  using O = T;
  using Keys = fictl::attention::RaggedKeys<T>;
  using Variant = {{ title }}Variant;
  static constexpr int kHeadDim = kDim;
  static constexpr int kRows = kTileRows;
  static constexpr bool kRope = false;
};

}  // namespace {{ project }}::{{ family }}
