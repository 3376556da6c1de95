{% from "_macros/row_names.jinja" import out, names, vectors, rows with context %}
{% set first = rows[0] %}
"""{{ name }}: {{ description[:-1] }}."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


{{ py("@op(", ['archs="' ~ archs ~ '"', 'dtypes="' ~ dtypes | map(attribute="short") | join(" ") ~ '"', 'devices="' ~ devices ~ '"', 'mutates="' ~ out ~ '"'], ")") }}
{{ py("def " ~ name ~ "(", spelled.parameters, ") -> torch.Tensor:") }}
    """Compute {{ expression }} of every row, rounded once.

    The computation is in fp32{{ ", in fp64 for what fp32 cannot hold" if is_wide }}. What a row gives does not depend on other rows.

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
    {{ out }}: ({{ roles.rows | join(", ") }}{{ "," if roles.rows | length == 1 }}), contiguous, of {{ first }}'s dtype. None allocates it.
    """
    if {{ out }} is None:
        {{ out }} = {{ first }}.new_empty({{ first }}.shape[:-1])
{% set n = inputs | length + 1 %}
    workspace = {{ first }}.new_empty(kernel.{{ name }}_workspace({{ first }}), dtype=torch.uint8)
{{ py("    kernel." ~ name ~ "(", spelled.passed[:n] + ["workspace"] + spelled.passed[n:], ")") }}
    return {{ out }}
