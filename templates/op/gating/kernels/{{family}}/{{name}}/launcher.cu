{% from "_macros/matrix_names.jinja" import x, launched, in_cpp with context %}
{% set weights, ids = outputs[0].name, outputs[1].name %}
#include <binding/launch.h>
#include <binding/row_pitch.h>

#include <{{ project }}/{{ family }}/{{ name }}.cuh>

namespace {{ project }}::{{ family }} {

{% if project != "fictl" %}
using fictl::Launch;
using fictl::View;

{% endif %}
namespace {

void check_most(const Launch& launch, const char* argument, int64_t number, int most) {
  if (number <= most) return;
  throw fictl::argument_error(fictl::ErrorKind::ValueError, launch.op, argument)
      << "is " << number << "; the kernel has room for " << most;
}

void check_experts(const Launch& launch, int64_t experts) {
  if (experts <= k{{ title }}MostExperts) return;
  throw fictl::argument_error(fictl::ErrorKind::ValueError, launch.op, "{{ x }}")
      << "is for " << experts << " experts; the kernel has room for " << k{{ title }}MostExperts;
}

}  // namespace

{{ cpp("void " ~ name ~ "(", launched + ["const View* bias"], ") {") }}
  check_experts(launch, {{ x }}.size(1));
  check_most(launch, "groups", groups, k{{ title }}MostGroups);
  check_most(launch, "top_k", top_k, k{{ title }}MostTopK);
{{ cpp("  DISPATCH_DTYPE(", ["launch", x, "T", "(" ~ in_cpp | join(", ") ~ ")", "{"], "") }}
    {{ title }}Args<T> args;
    args.{{ weights }} = {{ weights }}.data<float>();
    args.{{ ids }} = {{ ids }}.data<int32_t>();
    args.{{ x }} = {{ x }}.data<const T>();
    args.bias = bias == nullptr ? nullptr : bias->data<const float>();
    args.tokens = {{ x }}.size(0);
    args.{{ x }}_pitch = ROW_PITCH(launch, {{ x }});
    args.experts = static_cast<int>({{ x }}.size(1));
    args.top_k = static_cast<int>(top_k);
    args.groups = static_cast<int>(groups);
    args.top_groups = static_cast<int>(top_groups);
    args.sigmoid = sigmoid;
    args.renormalize = renormalize;
    args.scale = static_cast<float>(scale);
    CUDA_CHECK(launch, {{ title }}(args, launch.stream, launch.pdl));
  });
}

}  // namespace {{ project }}::{{ family }}
