"""Record cases of one op in this process, which a fault may kill: see
fictl.profile.cupti.run_cupti.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

from fictl.case.device_fault import device_fault
from fictl.case.messages import CaseRequest
from fictl.case.one_case import CaseCall, case_calls
from fictl.child.message import Failed, send
from fictl.child.program import request_in
from fictl.errors import FictlError, NotOnDevice
from fictl.profile.cupti.messages import CaseFailed, CaseProfiled, CuptiRequest, TracedCase
from fictl.profile.cupti.recording import record
from fictl.profile.cupti.summary import CuptiSummary
from fictl.project import OpFolder
from fictl.timing.rotation import rotations


def main(arguments: Sequence[str]) -> int:
    """Record the cases of a request, in their order, and send a message for each."""
    for traced in request_in(arguments, CuptiRequest).cases:
        try:
            send(CaseProfiled(_profiled(traced)))
        except FictlError as error:
            send(CaseFailed(Failed.of(error)))
        except Exception as error:
            text = f"{type(error).__name__}: {error}".strip().partition("\n")[0]
            send(CaseFailed(Failed(text, "fictl test checks the op", 1)))
            if device_fault() is not None:
                return 1
    return 0


def _profiled(traced: TracedCase) -> CuptiSummary:
    from fictl.timing.gpu_state import gpu_state

    call, cold = _chosen(traced.case), traced.case.options.cold
    turn = rotations({str(call.case): call.trial.side}, "cuda", cold=cold)[0]
    profile = record(turn, traced.case.calls)
    state = gpu_state()
    profile.save_trace(traced.trace)
    return replace(
        profile.summary,
        sm_mhz=state.sm_mhz if state else None,
        cold=turn.cold,
        trace=str(traced.trace),
    )


def _chosen(request: CaseRequest) -> CaseCall:
    folder = OpFolder.of(request.op)
    calls = case_calls(folder, request.functions, request.options)
    call = next(call for call in calls if str(call.case) == request.options.case)
    devices = call.trial.workload.subject.devices
    if "cuda" not in devices:
        raise NotOnDevice(f"{folder} is for {' '.join(devices)}, not for cuda")
    return call


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
