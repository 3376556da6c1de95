{% from "_macros/row_names.jinja" import out, names, vectors, rows with context %}
{% set first = rows[0] %}
"""{{ name }}: {{ about[:-1] }}."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

from .jit import module

kernel = KernelModule(module)


{{ py("@op(", ['archs="' ~ archs ~ '"', 'dtypes="' ~ dtypes | map(attribute="short") | join(" ") ~ '"', 'devices="' ~ devices ~ '"', 'mutates="' ~ out ~ '"'], ")") }}
{{ py("def " ~ name ~ "(", spelled.parameters, ") -> torch.Tensor:") }}
    """Compute {{ expression }}, rounded once from fp{{ "64 or fp32" if is_wide else "32" }}.

    Each dtype and length of a row is a module of its own, compiled when it is first called.

{% for each in inputs %}
{% if each.name == first %}
    {{ first }}: ({{ (roles.rows + roles.cols) | join(", ") }}); last dimension contiguous, all rows at one stride.
{% elif each.name in vectors %}
    {{ each.name }}: ({{ roles.cols[0] }},), contiguous, of {{ first }}'s dtype.
{% else %}
    {{ each.name }}: like {{ first }}.
{% endif %}
{% endfor %}
{% for each in scalars %}
    {{ each.name }}: {{ {"float": "a number", "int": "a whole number", "bool": "True or False"}[each.type] }}.
{% endfor %}
    {{ out }}: like {{ first }}; may be {{ rows | join(" or ") }} itself. None allocates it.
    """
    if {{ out }} is None:
        {{ out }} = torch.empty_like({{ first }})
    built = kernel[{{ first }}.dtype, {{ first }}.shape[-1]]
{{ py("    built." ~ name ~ "(", spelled.passed, ")") }}
    return {{ out }}
