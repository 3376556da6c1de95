"""Record cases of one op in this process, which a fault may kill: see
fictl.profile.cupti.run_cupti.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from fictl.case.device_fault import device_fault
from fictl.case.messages import CaseRequest
from fictl.case.one_case import CaseCall, case_calls
from fictl.child.message import Failed, send
from fictl.child.program import request_in
from fictl.errors import FictlError, NotOnDevice
from fictl.profile.cupti.messages import CaseFailed, CaseProfiled, CuptiRequest, TracedCase
from fictl.profile.cupti.profile import Profile
from fictl.profile.cupti.recorder import Recorder
from fictl.profile.cupti.summary import CuptiSummary
from fictl.project import OpFolder
from fictl.timing.rotation import Rotation, rotations

# Seconds of GPU work before the recording, in which its clocks rise.
_WARM_UP_SECONDS = 0.1


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


def record(turn: Rotation, calls: int) -> Profile:
    """Record `calls` calls of a rotation after a warm-up. Work between them that makes L2 cold
    belongs to no call.
    """
    import torch

    end = time.perf_counter() + _WARM_UP_SECONDS
    while True:
        _run(turn, range(len(turn.calls)))
        torch.cuda.synchronize()
        if time.perf_counter() >= end:
            break
    with Recorder() as recorder:
        # The first records cost more than others; the copy before the first call makes L2 cold.
        _run(turn, range(-1, 0))
        torch.cuda.synchronize()
        recorder.forget()
        _run(turn, range(calls), recorder.run)
        torch.cuda.synchronize()
        recorder.collect()
    return Profile(turn.name, recorder.work, recorder.api)


def _run(
    turn: Rotation,
    numbers: range,
    run: Callable[[int, Callable[[], object]], object] = lambda number, call: call(),
) -> None:
    for number in numbers:
        if turn.flush:
            turn.flush()
        run(number, turn.calls[number % len(turn.calls)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
