#include <binding/launch.h>
#include <binding/rows.h>

{% set headers = ["<" ~ project ~ "/" ~ family ~ "/" ~ name ~ ".cuh>"] %}
{% for header in (headers + (["<fictl/device/element_fp8.cuh>"] if has_fp8 else [])) | sort %}
#include {{ header }}
{% endfor %}

namespace {{ project }}::{{ family }} {

{% if project != "fictl" %}
using fictl::Launch;
using fictl::Rows;
using fictl::View;

{% endif %}
{% set pitches = [] %}
{% for tensor in tensors %}
{% set _ = pitches.append("rows.pitch[" ~ loop.index0 ~ "]") %}
{% endfor %}
{{ cpp("void " ~ name ~ "(", ["const Launch& launch"] + spelled.views, ") {") }}
{{ cpp("  const Rows<" ~ tensors | length ~ "> rows = COLLAPSE(", ["launch"] + tensors | map(attribute="name") | list, ");") }}
{{ cpp("  const " ~ title ~ "Shape shape{", ["rows.rows", "rows.cols"] + pitches, "};") }}
{% set arguments = [outputs[0].name ~ ".data<T>()"] %}
{% for tensor in inputs %}
{% set _ = arguments.append(tensor.name ~ ".data<const T>()") %}
{% endfor %}
{% for scalar in scalars %}
{% set _ = arguments.append(("static_cast<" ~ ("fictl::device::Wide<T>" if is_wide else "float") ~ ">(" ~ scalar.name ~ ")") if scalar.type != "bool" else scalar.name) %}
{% endfor %}
{{ cpp_dispatch(inputs[0].name, dtypes | map(attribute="cpp") | list, "CUDA_CHECK(launch, " ~ title ~ "(", arguments + ["shape", "launch.stream", "launch.pdl"], "));") }}
}

}  // namespace {{ project }}::{{ family }}
