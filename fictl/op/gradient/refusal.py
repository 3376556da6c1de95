"""Error for a call whose gradient cannot be computed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from fictl.errors import FictlError
from fictl.op.ffi.dynamo import constant_to_dynamo
from fictl.paths import PACKAGE

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
    error = NoGradient(op, argument, wanted, why)
    guards = sys.modules.get("torch._guards")
    if guards is None or guards.TracingContext.try_get() is None:
        raise error
    error.message += _place(guards.TracingContext.extract_stack())
    kind = _traced()
    raise kind(error) if kind else error


@cache
def _traced() -> Callable[[NoGradient], NoGradient] | None:
    """Return the class of the error in a trace: one that torch passes on without a report of its own.

    Its trace back ends where the compiled function is called, so that the sentence is what is seen.
    """
    shortened: Any = getattr(sys.modules.get("torch._dynamo.exc"), "ShortenTraceback", None)
    if shortened is None:  # Another torch: it puts the error into its report.
        return None

    class NoGradientInTrace(NoGradient, shortened):  # type: ignore[misc]
        def __init__(self, error: NoGradient) -> None:
            RuntimeError.__init__(self, error.message)
            self.message, self.hint = error.message, error.hint
            self.first_useful_frame = None

        def remove_dynamo_frames(self) -> NoGradient:
            return self.with_traceback(None)

    NoGradientInTrace.__name__ = NoGradientInTrace.__qualname__ = NoGradient.__name__
    NoGradientInTrace.__module__ = NoGradient.__module__
    return NoGradientInTrace


def _place(stack: Iterable[Any]) -> str:
    """Return the line of the user's that called the op: the innermost one that is not fictl's."""
    here = f"{PACKAGE}{os.sep}"
    own = (f for f in stack if not f.filename.startswith((here, "<")))
    frames = [f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}" for frame in own]
    return f" (called at {frames[-1]})" if frames else ""
