"""What all of them should compute."""

from __future__ import annotations

import torch

from fictl.trace import Tensor, TraceTemplate, Var

right = TraceTemplate(
    axes={"n": Var("elements")},
    inputs={"input": Tensor(("n",))},
    outputs={"out": Tensor(("n",))},
    reference=lambda input: input * 2,
    flops=lambda sizes, inputs: sizes["n"],
)
wrong = silent = spoilt = remembering = late = returning = hanging = dying = right
inplace = TraceTemplate(
    axes={"n": Var("elements")},
    inputs={"input": Tensor(("n",))},
    outputs={"input": Tensor(("n",))},
    reference=lambda input: input * 2,
)
Planned = TraceTemplate(
    axes={"n": Var("elements"), "one": Var("1")},
    inputs={"factor": Tensor(("one",), dtype="float32"), "input": Tensor(("n",))},
    outputs={"out": Tensor(("n",))},
    reference=lambda factor, input: input * factor,
    init=lambda sizes, dtype, device, generator: {"factor": torch.full((1,), 2.0, device=device)},
)
