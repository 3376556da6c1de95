{% set x, out = inputs[0].name, outputs[0].name %}
{% set rows, cols = roles.rows[0], roles.cols[0] %}
"""Trace of {{ name }}. The reference runs on every rank, too."""

from __future__ import annotations

import torch
import torch.distributed as dist

from fictl.trace import Const, Expr, Tensor, TraceTemplate, Var


def _reference({{ x }}: torch.Tensor) -> torch.Tensor:
    if not dist.is_initialized():
        return {{ x }}.clone()
    parts = [torch.empty_like({{ x }}) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, {{ x }}.contiguous())
    return torch.cat(parts)


{{ name }} = TraceTemplate(
    axes={
        "ranks": Var("ranks of the group"),
        "{{ rows }}": Var("rows of each rank"),
        "{{ cols }}": Const("elements of a row"),
        "all_{{ rows }}": Expr("ranks * {{ rows }}", "rows of all ranks"),
    },
    inputs={"{{ x }}": Tensor(("{{ rows }}", "{{ cols }}"))},
    outputs={"{{ out }}": Tensor(("all_{{ rows }}", "{{ cols }}"), dtype_from="{{ x }}")},
    reference=_reference,
    extremes=("zeros", "small", "large", "nonfinite"),
    at_default=("workspace",),
    op_type="comm",
    description="{{ description }}",
)
