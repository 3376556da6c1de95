{% set a, b, out = inputs[0].name, inputs[1].name, outputs[0].name %}
{% set m, k = inputs[0].axis_names %}
{% set n = inputs[1].axis_names[0] %}
"""{{ name }}: the product of a matrix and a transposed one."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

from .jit import module

kernel = KernelModule(module)


{{ py("@op(", ['archs="' ~ archs ~ '"', 'dtypes="' ~ dtypes | map(attribute="short") | join(" ") ~ '"', 'devices="' ~ devices ~ '"', 'mutates="' ~ out ~ '"'], ")") }}
{{ py("def " ~ name ~ "(", spelled.parameters, ") -> torch.Tensor:") }}
    """{{ a }} @ {{ b }}.T, summed in fp32 and rounded once.

    {{ a }}: ({{ m }}, {{ k }}); the elements of a row are neighbours, rows begin at multiples of 16 bytes.
    {{ b }}: ({{ n }}, {{ k }}), as torch.nn.Linear has its weight; rows as those of {{ a }}.
    {{ out }}: ({{ m }}, {{ n }}), rows at any pitch. None allocates it.
    """
    if {{ out }} is None:
        shape = len({{ a }}), len({{ b }})
        {{ out }} = {{ a }}.new_empty(shape)
{{ py("    kernel[" ~ a ~ ".dtype]." ~ name ~ "(", spelled.passed, ")") }}
    return {{ out }}
