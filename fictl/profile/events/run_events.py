"""Record events inside the kernels of one case: build them for recording, run them in a process."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fictl import settings
from fictl.case.messages import CaseChosen
from fictl.child.listener import Listener
from fictl.child.program import Program
from fictl.errors import FictlError
from fictl.op.folder_specs import folder_specs
from fictl.process import TimedOut
from fictl.profile.events.blocks import Blocks
from fictl.profile.events.layout import slots
from fictl.profile.events.messages import EventsRecorded, EventsRequest
from fictl.profile.events.names import HEADER, Names, names_of
from fictl.profile.events.recording import Raw, Recording, decode
from fictl.profile.events.result import EventsResult
from fictl.profile.events.timeline import write_trace
from fictl.profile.request import ProfileRequest

_PROGRAM = "fictl.profile.events.events_worker"


def profile(
    request: ProfileRequest,
    blocks: str = "",
    events: int = 0,
    trace: Path | None = None,
    say: Callable[[str], object] = lambda line: None,
) -> EventsResult:
    """Record a case. blocks: parsed by Blocks.parse. events: how many fit for each warp; 0 means as
    many as it needs.

    `trace` is always written; None means the request's folder.
    """
    chosen, names = Blocks.parse(blocks), _names(request)
    with tempfile.TemporaryDirectory() as folder:
        memory = Path(folder) / "memory"
        kernels = tuple(sorted(names.kernels))
        heard = _listen(
            request, EventsRequest(request.of_case, kernels, chosen, events, memory), say
        )
        recording = _decoded(heard.recorded, memory.read_bytes(), names)
    path = trace or request.file(".events.json")
    write_trace(recording, path, heard.case.case)
    return EventsResult(
        str(request.folder),
        heard.case.case,
        heard.case.device,
        heard.recorded.capacity,
        recording,
        path,
    )


def _names(request: ProfileRequest) -> Names:
    """Names of the op's events, read before a build: an op without events needs no build
    to fail.
    """
    names = names_of(folder_specs(request.folder))
    if names.kernels and names.events:
        return names
    has = "FICTL_KERNEL, and no event in it" if names.kernels else "no events"
    header = request.folder.header
    raise FictlError(
        f"the kernels of {request.folder} have {has}",
        f'in {header.name}: #include {HEADER}; at the top of a kernel FICTL_KERNEL("name"); then '
        'FICTL_SCOPE("load"); for what is between it and the end of its block, or '
        'FICTL_EVENT("here"); for an instant',
    )


@dataclass(frozen=True)
class _Heard:
    """The messages of the process: the recorded case, and its parts."""

    case: CaseChosen
    recorded: EventsRecorded


def _listen(request: ProfileRequest, asked: EventsRequest, say: Callable[[str], object]) -> _Heard:
    cases: list[CaseChosen] = []
    recorded: list[EventsRecorded] = []
    listener = Listener({CaseChosen: cases.append, EventsRecorded: recorded.append}, say)
    seconds = request.options.timeout
    try:
        code = Program(_PROGRAM, asked, _environment(request)).listen(listener, seconds).code
    except TimedOut:
        raise FictlError(
            f"it did not end within {seconds:g} s, and was killed", "--timeout gives more"
        ) from None
    if listener.error:
        raise listener.error
    if not (cases and recorded):
        raise FictlError(
            f"its process ended before it had recorded (exit code {code})", listener.last_words()
        )
    return _Heard(cases[-1], recorded[-1])


def _environment(request: ProfileRequest) -> dict[str, str]:
    """Environment that selects the recording variant, which others would precede."""
    return {
        **request.program.variables,
        settings.JIT_PROFILE.name: "1",
        settings.JIT_DEBUG.name: "0",
        settings.EMU_CHECK.name: "0",
    }


def _decoded(recorded: EventsRecorded, memory: bytes, names: Names) -> Recording:
    raws = {}
    start = 0
    for part in recorded.parts:
        region = memory[start : start + part.bytes]
        start += part.bytes
        events = list(slots(region, recorded.capacity))
        if events:
            raws[part.kernel] = Raw(part.launches, events)
    if not raws:
        raise FictlError("the second call launched none of the kernels of the first")
    return decode(raws, names, recorded.anchors)
