"""Record one case, in a process that the case may kill: see fictl.profile.events.run_events."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from fictl import settings
from fictl.case.messages import CaseChosen, CaseRequest
from fictl.case.one_case import CaseCall, case_calls
from fictl.child.message import Done, Failed, send
from fictl.child.program import request_in
from fictl.emu.device import MOST_ELEMENTS
from fictl.errors import FictlError, UsageError
from fictl.profile.events.messages import EventsRecorded, EventsRequest
from fictl.profile.events.recorder import Recorder, left, probe_rooms, rooms_for, write_memory
from fictl.profile.events.recording import anchors
from fictl.project import OpFolder


def main(arguments: Sequence[str]) -> int:
    request = request_in(arguments, EventsRequest)
    try:
        _record(_call(request.case), request)
    except FictlError as error:
        send(Failed.of(error))
        return error.exit_code
    send(Done())
    return 0


def _call(request: CaseRequest) -> CaseCall:
    """The first case that the options select."""
    call = next(case_calls(OpFolder.of(request.op), request.functions, request.options))
    template, case = call.trial.workload.subject.template, call.case
    elements = template.elements(case.sizes, case.passing)
    if settings.DEVICE.get() == "emu" and elements > MOST_ELEMENTS:
        raise UsageError(
            f"it is too large for the emulated device: {elements} elements",
            "--case chooses a smaller one",
        )
    return call


def _device() -> str:
    if settings.DEVICE.get() == "emu":
        return ""
    import torch

    return str(torch.cuda.get_device_name())


def _record(call: CaseCall, request: EventsRequest) -> None:
    """Call the case three times: to build and warm up, to measure the needed memory, to record."""
    send(CaseChosen(str(call.case), _device()))
    call()
    recorder = Recorder("cpu" if settings.DEVICE.get() == "emu" else "cuda")
    rooms, capacity = probe_rooms(request.kernels)
    first = recorder.record(call, rooms, capacity)
    probed, launched = left(first, capacity), {part.kernel: part.launches for part in first}
    if not probed:
        raise FictlError(
            "none of the kernels that it launches has FICTL_KERNEL",
            "put it at the top of one, or choose a --case that another kernel is for",
        )
    rooms, capacity = rooms_for(probed, launched, request.blocks, request.events)
    written = recorder.record(call, rooms, capacity)
    parts = write_memory(written, request.file)
    read = tuple(anchor for slots in probed.values() for anchor in anchors(slots))
    send(EventsRecorded(capacity, parts, read))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
