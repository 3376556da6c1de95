{% from "_macros/matrix_names.jinja" import x, rows, cols, decorator with context %}
{% set values, indices = outputs[0].name, outputs[1].name %}
"""{{ name }}: the largest elements of every row, and their indices."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


{{ decorator() }}
{{ py("def " ~ name ~ "(", spelled.parameters, ") -> tuple[torch.Tensor, torch.Tensor]:") }}
    """Return the k largest elements of every row, the largest first, and their indices.

    Of equal elements the one with the smaller index comes first, and is chosen where not all are:
    the result is the same in every run. NaN is above infinity, as in torch.topk.

    {{ x }}: ({{ rows }}, {{ cols }}); last dimension contiguous, all rows at one stride.
    k: number of elements, up to {{ cols }} and 2048.
    {{ values }}: ({{ rows }}, k), of {{ x }}'s dtype. None allocates it.
    {{ indices }}: ({{ rows }}, k), int32. None allocates it.
    """
    shape = (*{{ x }}.shape[:-1], max(k, 0))
    if {{ values }} is None:
        {{ values }} = {{ x }}.new_empty(shape)
    if {{ indices }} is None:
        {{ indices }} = {{ x }}.new_empty(shape, dtype=torch.int32)
{{ py("    kernel." ~ name ~ "(", spelled.passed, ")") }}
    return {{ values }}, {{ indices }}
