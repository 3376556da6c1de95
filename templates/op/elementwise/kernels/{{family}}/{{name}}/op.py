"""{{ name }}: {{ about }}"""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


{{ py("@op(", ['archs="' ~ archs ~ '"', 'dtypes="' ~ dtypes | map(attribute="short") | join(" ") ~ '"', 'devices="' ~ devices ~ '"', 'mutates="' ~ outputs[0].name ~ '"'], ")") }}
{{ py("def " ~ name ~ "(", spelled.parameters, ") -> torch.Tensor:") }}
    """Compute {{ expression }}, rounded once from fp{{ "64 or fp32" if is_wide else "32" }}.

    {{ inputs[0].name }}: any shape; dense in any order of its dimensions, or rows at one stride.
{% for tensor in inputs[1:] %}
    {{ tensor.name }}: like {{ inputs[0].name }}.
{% endfor %}
{% for scalar in scalars %}
    {{ scalar.name }}: {{ {"float": "a number", "int": "a whole number", "bool": "True or False"}[scalar.type] }}.
{% endfor %}
    {{ outputs[0].name }}: like {{ inputs[0].name }}; may be {{ "an input" if inputs | length > 1 else inputs[0].name }} itself. None allocates it.
    """
    if {{ outputs[0].name }} is None:
        {{ outputs[0].name }} = torch.empty_like({{ inputs[0].name }})
{{ py("    kernel." ~ name ~ "(", spelled.passed, ")") }}
    return {{ outputs[0].name }}
