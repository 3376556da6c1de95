{% from "_macros/matrix_names.jinja" import x, rows, cols, value with context %}
{% set q, scales = outputs[0].name, outputs[1].name %}
{% set to = parse_dtype(outputs[0].dtype) %}
{% set groups = outputs[1].axis_names[1] %}
"""Trace of {{ name }}."""

from __future__ import annotations

{{ import_block(["import torch"]) }}

from fictl.trace import {{ "TOLERANCES, " if to.short == "i8" }}Const, Expr, Scalar, Tensor, TraceTemplate, Var

LARGEST = {{ {"e4m3": "448.0", "e5m2": "57344.0", "i8": "127.0"}[to.short] }}  # of {{ to.name }}
LEAST = 1e-10


{{ py("def _reference(", spelled.reference_parameters, ") -> tuple[torch.Tensor, torch.Tensor]:") }}
    rows, cols = {{ x }}.shape
    groups = {{ x }}.reshape(rows, cols // group_size, group_size)
    scales = groups.abs().amax(-1).clamp(min=LEAST) / LARGEST
    values = (groups / scales[..., None]).clamp(-LARGEST, LARGEST){{ ".round().nan_to_num(nan=0.0)" if to.short == "i8" }}
    return values.reshape(rows, cols), scales


{{ name }} = TraceTemplate(
    axes={
        "{{ rows }}": Var("changes from call to call"),
        "{{ cols }}": Const("fixed by a model"),
        "group_size": Const("elements with one scale", "g"),
        "{{ groups }}": Expr("{{ cols }} // group_size", "scales of a row"),
    },
    inputs={
        "{{ x }}": Tensor(("{{ rows }}", "{{ cols }}")),
        "group_size": Scalar("int32", {{ value.group_size }}),
    },
    outputs={
        "{{ q }}": Tensor(("{{ rows }}", "{{ cols }}"), dtype="{{ to.name }}"),
        "{{ scales }}": Tensor(("{{ rows }}", "{{ groups }}"), dtype="float32"),
    },
    reference=_reference,
    constraints=("group_size > 0", "{{ cols }} % group_size == 0"),
{% if to.short == "i8" %}
    # Numbers half way between two integers may become either.
    tolerances={**TOLERANCES, "int8": (0.0, 1.0)},
{% endif %}
    extremes=("zeros", "small", "large", "nonfinite"),
    description="Quantize groups of rows to {{ to.name }}, with a scale for each.",
)
