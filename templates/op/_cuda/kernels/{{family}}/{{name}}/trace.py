"""Trace of {{ name }}."""

from __future__ import annotations

{% set shuffled = untied | default(none) %}
{{ import_block(["import torch"] + (["from collections.abc import Mapping"] if shuffled else []) + (reference.imports | list if reference else [])) }}

{% set sums = expression and expression.sums %}
from fictl.trace import {{ (["TOLERANCES"] if sums else []) | join }}{{ ", " if sums }}{{ spelled.trace_names | join(", ") }}
{% set rounds = has_integers and defined is not defined %}
{% set begins = reference and not rounds and not reference.source.startswith(("def ", "class ", "@", "#")) %}

{% if rounds %}

def _rounded(value: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Round as the kernel does: integers to the nearest one within their range."""
    if dtype.is_floating_point:
        return value
{% if dtypes | selectattr("name", "equalto", "bool") | list %}
    if dtype == torch.bool:
        return value != 0
{% endif %}
    limits = torch.iinfo(dtype)
    return value.round().clamp(limits.min, limits.max)

{% endif %}
{# As ruff has it: one line before what is no function. #}
{% if not begins %}

{% endif %}
{% if reference %}
{{ reference.source }}
{% if defined is defined and initial %}


{{ initial.source }}
{% endif %}
{% if rounds %}


{{ py("def _expected(", spelled.reference_parameters, ") -> torch.Tensor:") }}
{{ py("    value = _reference(", spelled.arguments, ")") }}
    return _rounded(value, {{ spelled.case }}.dtype)
{% endif %}
{% else %}
{{ py("def _reference(", spelled.reference_parameters, ") -> torch.Tensor:") }}
{% if has_integers %}
{{ py("    return _rounded(", [reference_code, spelled.case ~ ".dtype"], ")") }}
{% else %}
{{ py_value("    return ", reference_code) }}
{% endif %}
{% endif %}
{% if shuffled %}
{% set sizes_of = [] %}
{% for axis in shuffled.axes %}
{% set _ = sizes_of.append('sizes["' ~ axis.name ~ '"]') %}
{% endfor %}


def _init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Values of {{ shuffled.name }} that differ along a row: of equal ones, either index is right."""
{{ py("    shape = (", sizes_of, ",)" if sizes_of | length == 1 else ")") }}
    order = torch.rand(shape, device=device, generator=generator).argsort(dim=-1)
    return {"{{ shuffled.name }}": ((order - shape[-1] // 2) / 16).to(dtype)}
{% endif %}


{{ name }} = TraceTemplate(
{{ py_literal("    axes={", spelled.traced_axes, "},") }}
{{ py_literal("    inputs={", spelled.traced_inputs, "},") }}
{{ py_literal("    outputs={", spelled.traced_outputs, "},") }}
    reference={{ "_expected" if reference and rounds else "_reference" }},
{% if shuffled or (defined is defined and initial) %}
    init=_init,
{% endif %}
{% set rules = spelled.constraints | list if defined is defined else [] %}
{# `aligned` are the axes that come in chunks of 16 bytes. #}
{% for axis in aligned | default([]) %}
{% set _ = rules.append('"' ~ axis ~ ' % 8 == 0"') %}
{% endfor %}
{% if rules %}
{{ py_literal("    constraints=(", rules, "),") }}
{% endif %}
{% if defined is defined %}
    op_type={{ defined.definition.op_type | tojson }},
{% if spelled.tags %}
{{ py_literal("    tags=(", spelled.tags, "),") }}
{% endif %}
{% endif %}
{% if sums %}
    # A sum of many numbers may come near 0, and keeps the rounding of what it was before.
    tolerances={**TOLERANCES, "float32": (1e-5, 5e-4)},
{% endif %}
{% if expression and expression.is_product %}
    extremes=("zeros", "small", "large", "nonfinite"),
{% endif %}
    description="{{ description }}",
)
