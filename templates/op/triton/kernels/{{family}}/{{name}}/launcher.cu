#include <binding/launch.h>
#include <binding/rows.h>

#include <fictl/device/element.cuh>
#include <fictl/device/math.cuh>
#include <kernel.inc>

namespace {{ project }}::{{ family }} {

{% if project != "fictl" %}
namespace device = fictl::device;
using fictl::Launch;
using fictl::Rows;
using fictl::View;

{% endif %}
{{ cpp("void " ~ name ~ "(", ["const Launch& launch"] + spelled.views, ") {") }}
{{ cpp("  const Rows<" ~ tensors | length ~ "> rows = COLLAPSE(", ["launch"] + tensors | map(attribute="name") | list, ");") }}
  if (rows.rows == 0 || rows.cols == 0) return;
  const auto grid = [&](auto constants) {
    return rows.rows * device::ceil_div(rows.cols, constants.block);
  };
{% set arguments = ["launch", "grid", outputs[0].name ~ ".data<T>()"] %}
{% for tensor in inputs %}
{% set _ = arguments.append(tensor.name ~ ".data<const T>()") %}
{% endfor %}
{% for scalar in scalars %}
{% set _ = arguments.append("static_cast<float>(" ~ scalar.name ~ ")" if scalar.type != "bool" else scalar.name) %}
{% endfor %}
{% set _ = arguments.append("rows.cols") %}
{% for tensor in tensors %}
{% set _ = arguments.append("rows.pitch[" ~ loop.index0 ~ "]") %}
{% endfor %}
{{ cpp_dispatch(inputs[0].name, dtypes | map(attribute="cpp") | list, "CUDA_CHECK(launch, kernel::" ~ name ~ "(", arguments, "));") }}
}

}  // namespace {{ project }}::{{ family }}
