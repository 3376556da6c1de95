"""What twice computes."""

from __future__ import annotations

from fictl.trace import Const, Tensor, TraceTemplate, Var

twice = TraceTemplate(
    axes={"n": Var("rows"), "d": Const("columns")},
    inputs={"input": Tensor(("n", "d"))},
    outputs={"out": Tensor(("n", "d"), dtype_from="input")},
    reference=lambda input: input * 2,
)
