"""All of them copy."""

from __future__ import annotations

from fictl.trace import Tensor, TraceTemplate, Var

_AXES = {"n": Var("elements")}
_INPUTS = {"input": Tensor(("n",))}
_OUTPUTS = {"out": Tensor(("n",))}


def _reference(input):
    return input


out_of_bounds = TraceTemplate(axes=_AXES, inputs=_INPUTS, outputs=_OUTPUTS, reference=_reference)
shared_race = TraceTemplate(axes=_AXES, inputs=_INPUTS, outputs=_OUTPUTS, reference=_reference)
unwritten = TraceTemplate(axes=_AXES, inputs=_INPUTS, outputs=_OUTPUTS, reference=_reference)
lost_threads = TraceTemplate(axes=_AXES, inputs=_INPUTS, outputs=_OUTPUTS, reference=_reference)
spilling = TraceTemplate(axes=_AXES, inputs=_INPUTS, outputs=_OUTPUTS, reference=_reference)
local_array = TraceTemplate(axes=_AXES, inputs=_INPUTS, outputs=_OUTPUTS, reference=_reference)
