{% from "_macros/row_names.jinja" import out, names, vectors, rows with context %}
{% set first = rows[0] %}
"""{{ name }}: {{ (description[:1] | lower) ~ description[1:] }}"""

from __future__ import annotations

import torch

from fictl.op import KernelModule, draws, op

kernel = KernelModule(__file__)


{% set last = spelled.parameters | length - 1 %}
{% set ours = ["indices: torch.Tensor | None = None", "generator: torch.Generator | None = None", "seed: int | torch.Tensor | None = None", "offset: int | torch.Tensor | None = None"] %}
{{ py("@op(", ['archs="' ~ archs ~ '"', 'dtypes="' ~ dtypes | map(attribute="short") | join(" ") ~ '"', 'devices="' ~ devices ~ '"', 'mutates="' ~ out ~ '"'], ")") }}
{{ py("def " ~ name ~ "(", spelled.parameters[:last] + ours + spelled.parameters[last:], ") -> torch.Tensor:") }}
    """{{ ("Draw a token of each row, by the weights " ~ expression ~ ".") | wordwrap(93, false, "\n    ") }}

    The probability of a token is its share of the sum of the weights, which must be finite. Weights
    not above 0, and NaN, count as 0; a row without a positive weight gives token 0. Computed in
    fp32.

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
    indices: (tokens,), int32 or int64: the row of each token; for a row out of range the token
        is 0. None draws one of every row.
    generator: the source of random numbers if seed and offset are None. None is the device's.
    seed, offset: of the random numbers, both or neither: a number each, or an int64 tensor, (1,) or
        (tokens,). The same ones give the same tokens. Tokens that share a seed differ by their
        index in the batch; one with a seed of its own is the same at any index.
    {{ out }}: (tokens,), int32, contiguous. None allocates it.
    """
    tokens = len({{ first }} if indices is None else indices)
    drawn = draws("{{ name }}", tokens, 1, {{ first }}.device, generator, seed, offset)
    if {{ out }} is None:
        {{ out }} = torch.empty(tokens, dtype=torch.int32, device={{ first }}.device)
{{ py("    kernel." ~ name ~ "(", spelled.passed + ["indices", "*drawn"], ")") }}
    return {{ out }}
