{% set x, offsets = inputs[1].name, inputs[0].name %}
{% set names = dtypes | map(attribute="name") | list %}
{% set usual = "bfloat16" if "bfloat16" in names else names[0] %}
"""Sizes of {{ title }} that users meet: small ones, and batches of a few and of many requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from fictl.trace import Case

{% set dim = (axes | selectattr("name", "equalto", roles.dim[0]) | first).size %}
_SMALL = ((1, 1, {{ dim or 8 }}), (5, 37, {{ dim or 64 }}), (2, 300, {{ dim or 33 }}), (40, 20, {{ dim or 264 }}))
{{ py_literal("_BATCHES = (", ["(8, 16384, " ~ (dim or 4096) ~ ")", "(64, 65536, " ~ (dim or 1024) ~ ")", "(64, 1 << 18, " ~ (dim or 1024) ~ ")", "(256, 1 << 19, " ~ (dim or 128) ~ ")"], ")") }}


def cases() -> Iterator[Case]:
    for segments, rows, dim in _SMALL:
        for dtype in ({{ names | map("tojson") | join(", ") }}{{ "," if dtypes | length == 1 }}):
            yield _case(segments, rows, dim, dtype)
    for segments, rows, dim in _BATCHES:
        yield _case(segments, rows, dim, "{{ usual }}")


def _case(segments: int, rows: int, dim: int, dtype: str) -> Case:
    axes = ("{{ roles.len_indptr[0] }}", "{{ roles.rows[0] }}", "{{ roles.dim[0] }}")
    sizes = dict(zip(axes, (segments + 1, rows, dim), strict=True))
    return Case("{{ title }}", sizes, dtype)


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": _torch}


{{ py("def _torch(", spelled.reference_parameters, ") -> Callable[[], torch.Tensor]:") }}
    """Add rows by indices computed before, as our plan is."""
    segment = torch.repeat_interleave({{ offsets }}.diff().long())
    shape = (len({{ offsets }}) - 1, {{ x }}.shape[1])
    sums = torch.zeros(shape, dtype=torch.float32, device={{ x }}.device)

    def run() -> torch.Tensor:
        return sums.zero_().index_add_(0, segment, {{ x }}.float()).to({{ x }}.dtype)

    return run
