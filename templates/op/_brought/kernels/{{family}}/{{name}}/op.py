"""{{ name }}: {{ description }}"""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

{% if brought.heavy %}
from .jit import module

{% endif %}
kernel = KernelModule({{ "module" if brought.heavy else "__file__" }})

{% set result = "torch.Tensor" if outputs | length == 1 else "tuple[" ~ (["torch.Tensor"] * outputs | length) | join(", ") ~ "]" %}

{{ py("@op(", ["archs=" ~ archs | tojson | replace("\\u003e", ">") | replace("\\u003c", "<"), "dtypes=\"" ~ dtypes | map(attribute="short") | join(" ") ~ "\"", "devices=\"" ~ devices ~ "\"", "mutates=\"" ~ outputs | map(attribute="name") | join(" ") ~ "\""], ")") }}
{{ py("def " ~ name ~ "(", spelled.parameters, ") -> " ~ result ~ ":") }}
    """{{ description }}

{% for tensor in inputs %}
{% set axes = "any shape" if brought.any_shape and loop.first else "like " ~ inputs[0].name if brought.any_shape else "(" ~ tensor.axis_names | join(", ") ~ ("," if tensor.axes | length == 1) ~ ")" %}
    {{ tensor.name }}: {{ axes }}, contiguous{{ ", " ~ tensor.dtype if tensor.dtype }}.
{% endfor %}
{% for scalar in scalars %}
    {{ scalar.name }}: {{ {"float": "a number", "int": "a whole number", "bool": "True or False"}[scalar.type] }}.
{% endfor %}
{% for tensor in outputs %}
    {{ tensor.name }}: {{ "like " ~ inputs[0].name if brought.any_shape else "(" ~ tensor.axis_names | join(", ") ~ ("," if tensor.axes | length == 1) ~ ")" }}, contiguous{{ ", " ~ tensor.dtype if tensor.dtype }}. None allocates it.
{% endfor %}
    """
{% for tensor in outputs %}
    if {{ tensor.name }} is None:
{% set like = sizes.like(tensor) %}
{% if like %}
        {{ tensor.name }} = torch.empty_like({{ like }})
{% else %}
{% set dtype = "dtype=" ~ ("torch." ~ tensor.dtype if tensor.dtype else case.name ~ ".dtype") %}
{{ py("        " ~ tensor.name ~ " = torch.empty(", [sizes.shape(tensor), dtype, "device=" ~ inputs[0].name ~ ".device"], ")") }}
{% endif %}
{% endfor %}
{{ py("    kernel." ~ name ~ "(", spelled.passed, ")") }}
    return {{ outputs | map(attribute="name") | join(", ") }}
