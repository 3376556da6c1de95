"""Error for a call whose gradient cannot be computed."""

from __future__ import annotations

from fictl.errors import FictlError
from fictl.op.ffi.dynamo import constant_to_dynamo

BACKWARD, FORWARD = "requires grad", "has a tangent"
_WAYS_OUT = {
    BACKWARD: "call it under torch.no_grad() or torch.inference_mode(), or pass {}.detach()",
    FORWARD: "pass torch.autograd.forward_ad.unpack_dual({}).primal",
}
_DECLARE = "; its author can give it a gradient with @op(backward=…)"


class NoGradient(FictlError):
    """Error that names op, argument, the `wanted` gradient, `why` it is missing, and solutions."""

    code = "no-gradient"

    def __init__(self, op: str, argument: str, wanted: str, why: str = "") -> None:
        super().__init__(
            f"{op}: argument '{argument}' {wanted}, and {why or f'{op} has no gradient'}",
            _WAYS_OUT[wanted].format(argument) + ("" if why else _DECLARE),
        )


@constant_to_dynamo
def refuse(op: str, argument: str, wanted: str, why: str = "") -> None:
    """Raise NoGradient, also while torch.compile traces.

    Dynamo calls this function without tracing it, so that the user gets this error, not Dynamo's.
    """
    raise NoGradient(op, argument, wanted, why)
