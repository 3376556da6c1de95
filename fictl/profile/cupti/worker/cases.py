"""Cases of one op recorded in this process, which they may take down: see fictl.profile.cupti.run."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fictl.case.device_fault import device_fault
from fictl.case.one_case import CaseCall, case_calls
from fictl.case.options import CaseOptions
from fictl.child.message import send
from fictl.errors import FictlError, NotOnDevice
from fictl.profile.cupti.profile import Profile
from fictl.profile.cupti.recorder import Recorder
from fictl.project import OpFolder
from fictl.timing.rotation import Rotation, rotations

# So long the GPU works before it is looked at: its clocks rise meanwhile.
_WARM_UP_SECONDS = 0.1


def main(arguments: Sequence[str]) -> int:
    """Of requests {op, functions, options, calls, trace}, in their order, a message for each."""
    for request in json.loads(arguments[0]):
        try:
            send("summary", summary=_profiled(request))
        except FictlError as error:
            send("failed", message=error.message, hint=error.hint, code=error.exit_code)
        except Exception as error:
            said = f"{type(error).__name__}: {error}".strip().partition("\n")[0]
            send("failed", message=said, hint="fictl test checks the op", code=1)
            if device_fault() is not None:
                return 1
    return 0


def _profiled(request: Mapping[str, Any]) -> dict[str, Any]:
    from fictl.timing.gpu_state import gpu_state

    call, options = _case(request), CaseOptions.from_dict(request["options"])
    turn = rotations({str(call.case): call.trial.side}, "cuda", cold=options.cold)[0]
    profile = record(turn, request["calls"])
    state = gpu_state()
    profile.save_trace(request["trace"])
    found = replace(
        profile.summary,
        sm_mhz=state.sm_mhz if state else None,
        cold=turn.cold,
        trace=request["trace"],
    )
    return found.to_dict()


def _case(request: Mapping[str, Any]) -> CaseCall:
    options, folder = CaseOptions.from_dict(request["options"]), OpFolder.of(request["op"])
    calls = case_calls(folder, request["functions"], options)
    found = next(call for call in calls if str(call.case) == options.case)
    devices = found.trial.workload.subject.devices
    if "cuda" not in devices:
        raise NotOnDevice(f"{folder} is for {' '.join(devices)}, not for cuda")
    return found


def record(turn: Rotation, calls: int) -> Profile:
    """So many calls of a rotation, warmed up: what makes L2 cold between them is of no call."""
    import torch

    end = time.perf_counter() + _WARM_UP_SECONDS
    while True:
        _run(turn, range(len(turn.calls)))
        torch.cuda.synchronize()
        if time.perf_counter() >= end:
            break
    with Recorder() as recorder:
        # The first records cost more than others; and the copy before the first one leaves it cold.
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
