{% set a, b, out = inputs[0].name, inputs[1].name, outputs[0].name %}
{% set m, k = inputs[0].axis_names %}
{% set n = inputs[1].axis_names[0] %}
"""{{ name }}: multiply a matrix by a transposed one."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

from .jit import module

kernel = KernelModule(module)


{{ py("@op(", ['archs="' ~ archs ~ '"', 'dtypes="' ~ dtypes | map(attribute="short") | join(" ") ~ '"', 'devices="' ~ devices ~ '"', 'mutates="' ~ out ~ '"'], ")") }}
{{ py("def " ~ name ~ "(", spelled.parameters, ") -> torch.Tensor:") }}
    """Compute {{ a }} @ {{ b }}.T, summed in fp32 and rounded once.

    {{ a }}: ({{ m }}, {{ k }}); last dimension contiguous, rows aligned to 16 bytes.
    {{ b }}: ({{ n }}, {{ k }}), like the weight of torch.nn.Linear; strides as {{ a }}'s.
    {{ out }}: ({{ m }}, {{ n }}), last dimension contiguous, any row stride. None allocates it.
    """
    if {{ out }} is None:
        shape = len({{ a }}), len({{ b }})
        {{ out }} = {{ a }}.new_empty(shape)
{{ py("    kernel[" ~ a ~ ".dtype]." ~ name ~ "(", spelled.passed, ")") }}
    return {{ out }}
