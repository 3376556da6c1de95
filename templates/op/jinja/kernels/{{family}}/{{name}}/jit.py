{% from "_macros/row_names.jinja" import rows with context %}
{% set fixed = (axes | selectattr("name", "in", roles.cols) | first).size %}
"""JIT generator and AOT entry of {{ name }}: one module for each dtype and length of a row."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

import torch

from fictl.jit import JitSpec
from fictl.op import module_spec

TYPES = {
{% for dtype in dtypes %}
    torch.{{ dtype.name }}: "{{ dtype.cpp }}",
{% endfor %}
}
AOT_COLS = ({{ fixed ~ "," if fixed else "64, 128" }})


def module(dtype: torch.dtype, cols: int) -> JitSpec:
    """config.jinja gets its names from here; one that it does not know is an error."""
    if dtype not in TYPES:
        given, *accepted = (str(each).removeprefix("torch.") for each in (dtype, *TYPES))
        wrong = f"{{ name }}: argument '{{ rows[0] }}' has dtype {given}"
        raise TypeError(f"{wrong}; accepted: {', '.join(accepted)}")
    if cols < 1:
{{ py("        raise ValueError(", ['f"' ~ name ~ ": argument '" ~ rows[0] ~ "' has rows of {cols} elements" ~ '"'], ")") }}
    # 16 bytes, or what a row is a multiple of.
    vec = gcd(cols, 16 // dtype.itemsize)
    return module_spec(__file__, {"type": TYPES[dtype], "cols": cols, "vec": vec})


def aot() -> Iterator[JitSpec]:
    for dtype in TYPES:
        for cols in AOT_COLS:
            yield module(dtype, cols)
