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
    else:
        _check_row_ends({{ out }})
{{ py("    kernel." ~ name ~ "(", spelled.passed, ")") }}
    return {{ out }}


def _check_row_ends({{ out }}: torch.Tensor) -> None:
    """Refuse rows that end within 16 bytes: bulk stores write all of them."""
    row_bytes = {{ out }}.shape[-1] * {{ out }}.element_size() if {{ out }}.dim() else 0
    if row_bytes % 16:
        raise ValueError(
            f"{{ name }}: argument '{{ out }}' has rows of {row_bytes} bytes; bulk stores write whole 16 "
            "bytes, and what follows each row: pass None, or rows of a multiple of 16 bytes"
        )


def _like(x: torch.Tensor) -> torch.Tensor:
    """Allocate a tensor like x, whose rows begin at multiples of 16 bytes."""
    step = 16 // x.element_size()
    columns = x.shape[-1] if x.dim() else 0
    if columns % step == 0:
        return torch.empty_like(x)
    return x.new_empty((*x.shape[:-1], -(-columns // step) * step))[..., :columns]
