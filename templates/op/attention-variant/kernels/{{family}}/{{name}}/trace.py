{% set q, k, v, out = inputs[0].name, inputs[1].name, inputs[2].name, outputs[0].name %}
{% set names = spelled.reference_parameters + ["causal: bool"] %}
{% set code = expression.torch([]) %}
{% set arguments = (scalars | map(attribute="name") | list) + ["causal"] %}
{% set idx = {"q_idx": "torch.arange(q_len, device=" ~ q ~ ".device)[:, None]", "kv_idx": "torch.arange(kv_len, device=" ~ q ~ ".device)", "head": "torch.arange(heads, device=" ~ q ~ ".device)[:, None, None]", "kv_head": "torch.arange(heads, device=" ~ q ~ ".device)[:, None, None] // group"} %}
{% macro sizes() %}
{% set heads = "head" in expression.places or "kv_head" in expression.places %}
    q_len, {{ "heads" if heads else "kv_len" }}{{ ", kv_len" if heads }} = len({{ q }}), {{ q ~ ".shape[1], " if heads }}len({{ k }})
{% if "kv_head" in expression.places or not expression.is_mask %}
    group = {{ q }}.shape[1] // {{ k }}.shape[1]
{% endif %}
    q_idx = {{ idx.q_idx }}
    kv_idx = {{ idx.kv_idx }}
{% for each in expression.places if each in ("head", "kv_head") %}
    {{ each }} = {{ idx[each] }}
{% endfor %}
{% if expression.is_mask %}
{{ py_value("    seen = ", code) }}
{%- else %}
    k_of_q, v_of_q = (x.repeat_interleave(group, dim=1) for x in ({{ k }}, {{ v }}))
    logit = torch.einsum("qhd,khd->hqk", {{ q }}, k_of_q) * {{ q }}.shape[2] ** -0.5
{{ py_value("    logit = ", code) }}
    seen = kv_idx <= (kv_len - q_len + q_idx if causal else kv_len)
{%- endif %}
{% endmacro %}
"""Trace of {{ name }}."""

from __future__ import annotations

{{ import_block(["import torch"] + (["import math"] if "math." in code else [])) }}

from fictl.trace import Const, Scalar, Tensor, TraceTemplate, Var


{% if expression.is_mask %}
{{ py("def _seen(", [q ~ ": torch.Tensor", k ~ ": torch.Tensor"] + names[3:], ") -> torch.Tensor:") }}
    """Return the mask of the keys that each query sees."""
{{ sizes() }}
    return seen & (kv_idx <= kv_len - q_len + q_idx) if causal else seen


{{ py("def _reference(", names, ") -> torch.Tensor:") }}
    k_of_q, v_of_q = (x.repeat_interleave({{ q }}.shape[1] // x.shape[1], dim=1) for x in ({{ k }}, {{ v }}))
    logit = torch.einsum("qhd,khd->hqk", {{ q }}, k_of_q) * {{ q }}.shape[2] ** -0.5
    seen = _seen({{ ([q, k] + arguments) | join(", ") }})
{% else %}
{{ py("def _reference(", names, ") -> torch.Tensor:") }}
{{ sizes() }}
{% endif %}
    weights = logit.masked_fill(~seen, -torch.inf).softmax(dim=-1)
    return torch.einsum("hqk,khd->qhd", torch.where(seen, weights, 0), v_of_q)


{{ name }} = TraceTemplate(
    axes={
        "{{ roles.q_len[0] }}": Var("queries, the last of the keys"),
        "{{ roles.kv_len[0] }}": Var("keys"),
        "{{ roles.heads[0] }}": Const("heads of queries", "h"),
        "{{ roles.kv_heads[0] }}": Const("heads of keys and values", "kv"),
{% set size = (axes | selectattr("name", "in", roles.head_dim) | first).size %}
        "{{ roles.head_dim[0] }}": Const("elements of a head", "d"{{ ", " ~ size if size }}),
    },
{% set given = [] %}
{% for each in inputs %}
{% set given_dtype = "" if loop.first else ', dtype_from="' ~ q ~ '"' %}
{% set _ = given.append('"' ~ each.name ~ '": Tensor(("' ~ each.axis_names | join('", "') ~ '")' ~ given_dtype ~ ")") %}
{% endfor %}
{% for each in scalars %}
{% set _ = given.append('"' ~ each.name ~ '": Scalar("' ~ each.dtype ~ '", ' ~ each.value ~ ")") %}
{% endfor %}
{{ py_literal("    inputs={", given + ['"causal": Scalar("bool", False)'], "},") }}
    outputs={"{{ out }}": Tensor(("{{ outputs[0].axis_names | join('", "') }}"), dtype_from="{{ q }}")},
    reference=_reference,
    description="{{ description }}",
    constraints=("{{ roles.heads[0] }} % {{ roles.kv_heads[0] }} == 0", "{{ roles.kv_heads[0] }} >= 1"),
    # Weights are rounded to the dtype of the values, which may cancel each other.
    tolerances={"float16": (5e-3, 3e-3), "bfloat16": (2e-2, 1.6e-2)},
    extremes=("zeros", "small"),
)
