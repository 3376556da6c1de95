"""What twice computes."""

from __future__ import annotations

from fictl.trace import Scalar, Tensor, TraceTemplate, Var

twice = TraceTemplate(
    axes={"n": Var("elements")},
    inputs={"input": Scalar("int32", 3)},
    outputs={"out": Tensor(("n",))},
    reference=lambda input: input * 2,
)
