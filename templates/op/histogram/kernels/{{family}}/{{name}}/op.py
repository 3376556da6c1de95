{% from "_macros/matrix_names.jinja" import x, rows, cols, decorator with context %}
{% set counts = outputs[0].name %}
"""{{ name }}: a histogram of every row."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


{{ decorator() }}
{{ py("def " ~ name ~ "(", spelled.parameters, ") -> torch.Tensor:") }}
    """Count the elements of every row in equal bins from low to high, as torch.histc does.

    high belongs to the last bin; elements outside, and NaN, are not counted. An element x is in bin
    floor((x - low) * (bins / (high - low))), in fp32. For indices from 0 to n - 1, as those of
    experts, bins=n, low=0 and high=n - 1 count each of them.

    {{ x }}: ({{ rows }}, {{ cols }}); last dimension contiguous, all rows at one stride. A whole tensor is
        one row, {{ x }}.view(1, -1), which all SMs share.
    bins: their number; up to 8192 are counted in shared memory.
    low, high: where the first bin begins and the last one ends.
    {{ counts }}: ({{ rows }}, bins), int32, contiguous. None allocates it.
    """
    if {{ counts }} is None:
        {{ counts }} = {{ x }}.new_empty((*{{ x }}.shape[:-1], max(bins, 0)), dtype=torch.int32)
{{ py("    kernel." ~ name ~ "(", spelled.passed, ")") }}
    return {{ counts }}
