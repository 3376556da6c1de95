"""What shift and spoil compute where they go right."""

from __future__ import annotations

from fictl.trace import Scalar, Tensor, TraceTemplate, Var

shift = TraceTemplate(
    axes={"n": Var("elements")},
    inputs={"input": Tensor(("n",)), "by": Scalar("int32", 0)},
    outputs={"out": Tensor(("n",))},
    reference=lambda input, by: input,
)
spoil = TraceTemplate(
    axes={"n": Var("elements")},
    inputs={"input": Tensor(("n",))},
    outputs={},
    reference=lambda input: (),
)
