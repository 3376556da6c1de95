{% from "_macros/row_names.jinja" import out, rows with context %}
{% set first = rows[0] %}
"""{{ name }}: {{ about }}"""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


{{ py("@op(", ['archs="' ~ archs ~ '"', 'dtypes="' ~ dtypes | map(attribute="short") | join(" ") ~ '"', 'devices="' ~ devices ~ '"', 'mutates="' ~ out ~ '"'], ")") }}
{{ py("def " ~ name ~ "(", spelled.parameters, ") -> torch.Tensor:") }}
    """Compute {{ expression }}, rounded once from fp32.

    {{ first }}: ({{ (roles.rows + roles.cols) | join(", ") }}); last dimension contiguous, all rows at one stride, which is a
        multiple of 16 bytes.
{% for each in rows[1:] %}
    {{ each }}: like {{ first }}.
{% endfor %}
{% for scalar in scalars %}
    {{ scalar.name }}: {{ {"float": "a number", "int": "a whole number", "bool": "True or False"}[scalar.type] }}.
{% endfor %}
    {{ out }}: like {{ first }}; may be {{ rows | join(" or ") }} itself. None allocates it.
    """
    if {{ out }} is None:
        {{ out }} = _like({{ first }})
{{ py("    kernel." ~ name ~ "(", spelled.passed, ")") }}
    return {{ out }}


def _like(x: torch.Tensor) -> torch.Tensor:
    """Allocate a tensor like x, whose rows begin at multiples of 16 bytes."""
    step = 16 // x.element_size()
    columns = x.shape[-1] if x.dim() else 0
    if columns % step == 0:
        return torch.empty_like(x)
    return x.new_empty((*x.shape[:-1], -(-columns // step) * step))[..., :columns]
