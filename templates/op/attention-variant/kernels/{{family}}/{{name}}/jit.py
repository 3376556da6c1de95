{% set fixed = (axes | selectattr("name", "in", roles.head_dim) | first).size %}
"""JIT generator and AOT entry of {{ name }}: a module for each dtype, head and tile."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from fictl.jit import JitSpec
from fictl.op import module_spec

TYPES = {
{% for dtype in dtypes %}
    torch.{{ dtype.name }}: "{{ dtype.cpp }}",
{% endfor %}
}
{% if fixed %}
HEAD_DIMS = ({{ fixed }},)
{% else %}
HEAD_DIMS = range(8, 257, 8)  # whole chunks of 16 bytes, as far as shared memory of any GPU goes
{% endif %}


def module(dtype: torch.dtype, head_dim: int, rows: int) -> JitSpec:
    """config.jinja gets its names from here; one that it does not know is an error."""
    if dtype not in TYPES:
        given, *accepted = (str(each).removeprefix("torch.") for each in (dtype, *TYPES))
        wrong = f"{{ name }}: argument '{{ inputs[0].name }}' has dtype {given}"
        raise TypeError(f"{wrong}; accepted: {', '.join(accepted)}")
    if head_dim not in HEAD_DIMS:
        wrong = f"{{ name }}: argument '{{ inputs[0].name }}' has heads of {head_dim} elements"
        raise ValueError(f"{wrong}; accepted: {{ fixed if fixed else "multiples of 8 up to 256" }}")
    return module_spec(__file__, {"type": TYPES[dtype], "head_dim": head_dim, "rows": rows})


def aot() -> Iterator[JitSpec]:
    """What is called most; others are built when they are first called."""
    yield module(torch.{{ dtypes[-1].name }}, {{ fixed or 128 }}, {{ 64 if fixed and fixed > 128 else 128 }})
