{% from "_macros/comment.jinja" import comment %}
{% set code = expression.cpp() %}
{% set place = "const fictl::attention::Place&" ~ (" at" if "at." in code) %}
{{ comment(name ~ ": " ~ about[:1] | lower ~ about[1:]) }}
//
// The kernel is that of <fictl/attention/attend.cuh>: a block has a tile of queries in registers,
// goes through the keys in tiles of shared memory, and keeps the running maximum and sum of the
// softmax, so that scores never reach memory. Its header says what it moves and why it is tiled so.
//
{% if expression.is_mask %}
// What is here is asked once a score, between the two products: is this key seen? Where the answer
// is the same for a whole tile of keys, it is cheaper not to go there: see `end` in op.py's _work.
{% else %}
// What is here is done once to a score, between the two products: some ten instructions of it take
// as long as the products do. What is the same for all scores is better a scalar.
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

// What a kernel is compiled for: rows of a tile are queries, for each of their heads that share one
// of the keys.
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
