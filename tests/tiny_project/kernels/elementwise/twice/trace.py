"""What twice computes."""

from __future__ import annotations

from fictl.trace import Scalar, Tensor, TraceTemplate

twice = TraceTemplate(
    axes={},
    inputs={"input": Scalar("int32", 3)},
    outputs={"out": Tensor(())},
    reference=lambda input: input * 2,
)
