"""The program under the debugger: calls a small selected case once, in this process."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from fictl import settings
from fictl.case.messages import CaseRequest
from fictl.case.one_case import CaseCall, case_calls
from fictl.child.program import request_in
from fictl.errors import FictlError
from fictl.log import logger
from fictl.project import OpFolder

# 16 bytes for each thread of a warp.
_WARP_BYTES = 512


def main(arguments: Sequence[str]) -> int:
    request = request_in(arguments, CaseRequest)
    try:
        calls = case_calls(OpFolder.of(request.op), request.functions, request.options)
        call = min(calls, key=_preference)
        logger().info("calling %s", call.case)
        call()
        _finish()
    except FictlError as error:
        raise SystemExit(str(error)) from None
    return 0


def _preference(call: CaseCall) -> tuple[bool, int]:
    """Sort key: the smallest case that gives work to a whole warp, else the largest."""
    size = call.trial.workload.working_set
    return (size < _WARP_BYTES, size if size >= _WARP_BYTES else -size)


def _finish() -> None:
    """Synchronize, so that a kernel's fault belongs to this call."""
    if settings.DEVICE.get() == "cuda":
        import torch

        torch.cuda.synchronize()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
