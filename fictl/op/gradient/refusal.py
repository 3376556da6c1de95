"""The words for a call whose gradient nobody can give."""

from __future__ import annotations

from fictl.errors import FictlError
from fictl.op.ffi.dynamo import constant_to_dynamo

_WAYS_OUT = "call it under torch.no_grad() or torch.inference_mode(), or pass {}.detach()"
_DECLARE = "; its author can give it a gradient with @op(backward=…)"


class NoGradient(FictlError):
    """Names op and argument, and the ways out; `why` there is no gradient of this argument."""

    def __init__(self, op: str, argument: str, why: str = "") -> None:
        super().__init__(
            f"{op}: argument '{argument}' requires grad, and {why or f'{op} has no gradient'}",
            _WAYS_OUT.format(argument) + ("" if why else _DECLARE),
        )


@constant_to_dynamo
def refuse(op: str, argument: str, why: str = "") -> None:
    """Why a function: while torch.compile traces, this is called and not followed, and so the error
    that it raises is the user's and not Dynamo's."""
    raise NoGradient(op, argument, why)
