{% from "_macros/matrix_names.jinja" import x, rows, cols, decorator with context %}
{% set q, scales = outputs[0].name, outputs[1].name %}
{% set to = parse_dtype(outputs[0].dtype) %}
"""{{ name }}: {{ to.name }}, with a scale for each group of a row."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


{{ decorator() }}
{{ py("def " ~ name ~ "(", spelled.parameters, ") -> tuple[torch.Tensor, torch.Tensor]:") }}
    """Quantize rows to {{ to.name }}, group by group: {{ x }} is about {{ q }} * its group's scale.

    A scale is the largest magnitude of its group, 1e-10 at least, over the largest number of
    {{ to.name }}{{ " that has a negative, 127" if to.short == "i8" }}. A NaN makes its group's scale NaN, an infinity makes it infinite.

    {{ x }}: ({{ rows }}, {{ cols }}); last dimension contiguous, all rows at one stride.
    group_size: adjacent elements of a row with one scale, which divides {{ cols }}; {{ cols }} itself for
        a scale a row.
    {{ q }}: like {{ x }}, of {{ to.name }}, at any row stride. None allocates it.
    {{ scales }}: ({{ rows }}, {{ cols }} / group_size), float32, contiguous. None allocates it.
    """
    if {{ q }} is None:
        {{ q }} = {{ x }}.new_empty({{ x }}.shape, dtype=torch.{{ to.name }})
    if {{ scales }} is None:
        groups = {{ x }}.shape[-1] // max(group_size, 1)
        {{ scales }} = {{ x }}.new_empty((*{{ x }}.shape[:-1], groups), dtype=torch.float32)
{{ py("    kernel." ~ name ~ "(", spelled.passed, ")") }}
    return {{ q }}, {{ scales }}
