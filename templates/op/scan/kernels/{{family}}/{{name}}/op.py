{% from "_macros/matrix_names.jinja" import x, rows, cols, decorator with context %}
{% set out = outputs[0].name %}
{% set integers = dtypes | selectattr("short", "in", ["i32", "i64"]) | list %}
"""{{ name }}: prefix sums of every row."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


{{ decorator() }}
{{ py("def " ~ name ~ "(", spelled.parameters, ") -> torch.Tensor:") }}
    """Compute the prefix sums of every row, as torch.cumsum along the last dimension.

{% if integers %}
    Integers are summed in 64 bits and wrap; all else is summed in fp32, or fp64, and rounded once.
{% else %}
    Sums are in {{ "fp64 of fp64, else in fp32" if is_wide else "fp32" }}, and rounded once.
{% endif %}
    What a row gives does not depend on other rows.

    {{ x }}: ({{ rows }}, {{ cols }}); last dimension contiguous, all rows at one stride.
    exclusive: each sum is without its own element; the first one is 0.
    {{ out }}: like {{ x }}, at any row stride; may be {{ x }}. None allocates it.
    """
    if {{ out }} is None:
        {{ out }} = {{ x }}.new_empty({{ x }}.shape)
    workspace = {{ x }}.new_empty(kernel.{{ name }}_workspace({{ x }}), dtype=torch.uint8)
{{ py("    kernel." ~ name ~ "(", spelled.passed[:2] + ["workspace"] + spelled.passed[2:], ")") }}
    return {{ out }}
