{# `aligned` are the axes that come in chunks of 16 bytes. #}
"""Trace of {{ name }}."""

from __future__ import annotations

{{ import_block(["from collections.abc import Mapping", "from typing import Any", "import torch"] + (reference.imports | list if reference else [])) }}

from fictl.trace import {{ spelled.trace_names | join(", ") }}


{% if reference %}
{{ reference.source }}
{% if defined is defined and initial %}


{{ initial.source }}
{% endif %}
{% else %}
{{ py("def _reference(", spelled.reference_parameters, ") -> torch.Tensor:") }}
    return {{ inputs[0].name }} @ {{ inputs[1].name }}.T
{% endif %}


def _flops(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    return 2 * sizes["{{ m }}"] * sizes["{{ n }}"] * sizes["{{ k }}"]


{{ name }} = TraceTemplate(
{{ py("    axes={", spelled.traced_axes, "},") }}
{{ py("    inputs={", spelled.traced_inputs, "},") }}
{{ py("    outputs={", spelled.traced_outputs, "},") }}
    reference=_reference,
{% set rules = [] %}
{% for axis in aligned %}
{% set _ = rules.append('"' ~ axis ~ ' % 8 == 0"' ~ "") %}
{% endfor %}
{% for rule in (spelled.constraints if defined is defined else []) if rule not in rules %}
{% set _ = rules.append(rule) %}
{% endfor %}
{% if rules %}
{{ py_literal("    constraints=(", rules, "),") }}
{% endif %}
    # A sum of thousands of products may come near 0, and keeps the rounding of what it was before.
    tolerances={"float16": (2e-3, 1e-2), "bfloat16": (1.6e-2, 1e-2)},
    flops=_flops,
{% if defined is defined %}
{% if initial %}
    init=_init,
{% endif %}
    op_type={{ defined.definition.op_type | tojson }},
{% if spelled.tags %}
{{ py_literal("    tags=(", spelled.tags, "),") }}
{% endif %}
{% endif %}
    description="Multiply a matrix by a transposed one.",
)
