#include <binding/launch.h>

#include <fictl/device/element.cuh>
{% if has_fp8 %}
#include <fictl/device/element_fp8.cuh>
{% endif %}
{% if launch %}
#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
{% endif %}

#include <{{ project }}/{{ family }}/{{ name }}.cuh>

namespace {{ project }}::{{ family }} {

{% if project != "fictl" %}
namespace device = fictl::device;
using fictl::Launch;
using fictl::View;

{% endif %}
{% if brought.counts %}
namespace {

// The kernel counts with ints.
int as_int(const Launch& launch, const char* what, int64_t value) {
  if (value <= INT32_MAX) return static_cast<int>(value);
  FICTL_THROW(ValueError) << launch.op << ": " << what << " is " << value
                          << ", and the kernel counts to " << INT32_MAX;
}

}  // namespace

{% endif %}
{{ cpp("void " ~ name ~ "(", ["const Launch& launch"] + spelled.views, ") {") }}
{% if flag is defined %}
  if constexpr (!{{ flag }}) {
    FICTL_THROW(RuntimeError) << launch.op << ": its kernel is not written yet; "
                              << "{{ name }}.cuh says what is left to do";
  }
{% endif %}
  if ({{ outputs[0].name }}.numel() == 0) return;
{% if launch %}
{% for guess in launch.guesses %}
  // {{ guess.about | join(" and ") | capitalize }}: a guess from the kernel's body, {{ launch.unit.words }}.
  // Where it means another launch, this is the place to say so.
{% endfor %}
  device::LaunchConfig config;
  config.grid = dim3({{ launch.grid | join(", ") }});
  config.block = dim3({{ launch.block | join(", ") }});
  config.stream = launch.stream;
{% endif %}
{{ cpp("  DISPATCH_DTYPE(", ["launch", case.name, "T", "(" ~ dtypes | map(attribute="cpp") | join(", ") ~ ")", "{"], "") }}
{% if not launch and brought.source.function.result == "void" %}
{{ cpp("    " ~ entry ~ "(", arguments, ");") }}
    CUDA_CHECK(launch, cudaGetLastError());
{% else %}
{# A comma outside parentheses would end a macro's argument. #}
{% set open, close = ("(", ")") if "," in entry else ("", "") %}
{% set call = open ~ ("device::launch<" ~ entry ~ ">(" if launch else entry ~ "(") %}
{% set passed = (["config"] if launch else []) + arguments %}
{% set line = "    CUDA_CHECK(launch, " ~ call ~ passed | join(", ") ~ close ~ "));" %}
{% if line | length <= 100 %}
{{ line }}
{% else %}
    CUDA_CHECK(launch,
{{ cpp("               " ~ call, passed, close ~ "));") }}
{% endif %}
{% endif %}
  });
}

}  // namespace {{ project }}::{{ family }}
