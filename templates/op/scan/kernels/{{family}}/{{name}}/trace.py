{% from "_macros/matrix_names.jinja" import x, rows, cols, value with context %}
{% set out = outputs[0].name %}
{% set integers = dtypes | selectattr("short", "in", ["i32", "i64"]) | list %}
"""Trace of {{ name }}."""

from __future__ import annotations

{{ import_block(["import torch"]) }}

from fictl.trace import TOLERANCES, Const, Scalar, Tensor, TraceTemplate, Var


{{ py("def _reference(", spelled.reference_parameters, ") -> torch.Tensor:") }}
    sums = {{ x }}.cumsum(-1, dtype={{ x }}.dtype)
    if not exclusive:
        return sums
    # Why not sums - {{ x }}: of an infinity that is NaN.
    return torch.nn.functional.pad(sums[..., :-1], (1, 0))[..., : {{ x }}.shape[-1]]


{{ name }} = TraceTemplate(
    axes={
        "{{ rows }}": Var("changes from call to call"),
        "{{ cols }}": Const("elements of a row"),
    },
    inputs={
        "{{ x }}": Tensor(("{{ rows }}", "{{ cols }}")),
        "exclusive": Scalar("bool", {{ value.exclusive }}),
    },
    outputs={"{{ out }}": Tensor(("{{ rows }}", "{{ cols }}"), dtype_from="{{ x }}")},
    reference=_reference,
    # A sum of many numbers may come near 0, and keeps the rounding of what it was before.
    tolerances={**TOLERANCES, "float32": (1e-5, 5e-4)},
    extremes=("zeros", "small", "nonfinite"),
    description="{{ description }}",
)
