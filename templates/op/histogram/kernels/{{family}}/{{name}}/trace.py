{% from "_macros/matrix_names.jinja" import x, rows, cols, value with context %}
{% set counts = outputs[0].name %}
"""Trace of {{ name }}."""

from __future__ import annotations

{{ import_block(["import torch"]) }}

from fictl.trace import Const, Scalar, Tensor, TraceTemplate, Var


{{ py("def _reference(", spelled.reference_parameters, ") -> torch.Tensor:") }}
    """Count in fp32, as the kernel does: which bin has a number at an edge is a matter of rounding."""
    x = {{ x }}.float()
    first, last = torch.tensor([low, high], dtype=torch.float32)
    bin = ((x - first) * (bins / (last - first))).clamp(0, bins - 1).nan_to_num().long()
    inside = ((x >= first) & (x <= last)).int()
    counts = torch.zeros(*x.shape[:-1], bins, dtype=torch.int32, device=x.device)
    return counts.scatter_add(-1, bin, inside)


{{ name }} = TraceTemplate(
    axes={
        "{{ rows }}": Var("changes from call to call"),
        "{{ cols }}": Const("elements of a row"),
        "bins": Const("of equal width"),
    },
    inputs={
        "{{ x }}": Tensor(("{{ rows }}", "{{ cols }}")),
        "bins": Scalar("int32", {{ value.bins }}),
        "low": Scalar("float32", {{ value.low }}),
        "high": Scalar("float32", {{ value.high }}),
    },
    outputs={"{{ counts }}": Tensor(("{{ rows }}", "bins"), dtype="int32")},
    reference=_reference,
    constraints=("bins >= 1",),
    extremes=("zeros", "small", "large", "nonfinite"),
    description="{{ description }}",
)
