{% from "_macros/matrix_names.jinja" import x, rows, cols, value with context %}
{% set values, indices = outputs[0].name, outputs[1].name %}
{% set k_axis = outputs[0].axis_names[1] %}
"""Trace of {{ name }}."""

from __future__ import annotations

{{ import_block(["import torch"]) }}

from fictl.trace import Const, Scalar, Tensor, TraceTemplate, Var


{{ py("def _reference(", spelled.reference_parameters, ") -> tuple[torch.Tensor, torch.Tensor]:") }}
    """Sort whole rows. Why not torch.topk: it says nothing on the order of equal elements."""
    # Why one NaN: CUDA's sort puts a NaN with a sign below all.
    one_nan = {{ x }}.masked_fill({{ x }}.isnan(), torch.nan)
    first = one_nan.sort(dim=-1, descending=True, stable=True).indices[..., :k]
    return {{ x }}.gather(-1, first), first


{{ name }} = TraceTemplate(
    axes={
        "{{ rows }}": Var("changes from call to call"),
        "{{ cols }}": Const("elements of a row"),
        "k": Const("elements that are chosen"),
    },
    inputs={"{{ x }}": Tensor(("{{ rows }}", "{{ cols }}")), "k": Scalar("int32", {{ value.k }})},
    outputs={
        "{{ values }}": Tensor(("{{ rows }}", "k"), dtype_from="{{ x }}"),
        "{{ indices }}": Tensor(("{{ rows }}", "k"), dtype="int32"),
    },
    reference=_reference,
    constraints=("k <= {{ cols }}",),
    extremes=("zeros", "small", "large", "nonfinite"),
    description="{{ description }}",
)
