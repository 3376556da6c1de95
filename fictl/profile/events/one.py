"""The program that records one case, in a process that it may take down: see run.py."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fictl import settings
from fictl.case.one_case import CaseCall, case_calls
from fictl.case.options import CaseOptions
from fictl.child.message import send
from fictl.emu.device import MOST_ELEMENTS
from fictl.errors import FictlError, UsageError
from fictl.profile.events.blocks import Blocks
from fictl.profile.events.recorder import Recorder, left, probe_rooms, rooms_for, write_memory
from fictl.profile.events.recording import anchors
from fictl.project import OpFolder


def main(arguments: Sequence[str]) -> int:
    """Of a request {op: its file, functions, options, kernels, blocks, events, file}."""
    request = json.loads(arguments[0])
    try:
        _record(_call(request), request)
    except FictlError as error:
        send("error", message=error.message, hint=error.hint, code=error.exit_code)
        return error.exit_code
    send("done")
    return 0


def _call(request: Mapping[str, Any]) -> CaseCall:
    """The first that the options choose."""
    options = CaseOptions.from_dict(request["options"])
    call = next(case_calls(OpFolder.of(request["op"]), request["functions"], options))
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


def _record(call: CaseCall, request: Mapping[str, Any]) -> None:
    """Called three times: to build and warm up, to see how much room is needed, to record."""
    send("case", case=str(call.case), device=_device())
    call()
    recorder = Recorder("cpu" if settings.DEVICE.get() == "emu" else "cuda")
    rooms, capacity = probe_rooms(request["kernels"])
    first = recorder.record(call, rooms, capacity)
    probed, launched = left(first, capacity), {each.kernel: each.launches for each in first}
    if not probed:
        raise FictlError(
            "none of the kernels that it launches has FICTL_KERNEL",
            "put it at the top of one, or choose a --case that another kernel is for",
        )
    rooms, capacity = rooms_for(probed, launched, Blocks(**request["blocks"]), request["events"])
    written = recorder.record(call, rooms, capacity)
    parts = write_memory(written, Path(request["file"]))
    read = [anchor for slots in probed.values() for anchor in anchors(slots)]
    send("recorded", capacity=capacity, parts=parts, anchors=read)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
