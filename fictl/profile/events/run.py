"""Events inside the kernels of one case: built to record them, recorded in a process of its own."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fictl import settings
from fictl.child.message import received
from fictl.errors import FictlError, SetupError, UsageError
from fictl.process import TimedOut, stream
from fictl.profile.events.blocks import Blocks
from fictl.profile.events.layout import slots
from fictl.profile.events.names import HEADER, Names, names_of
from fictl.profile.events.recording import Raw, Recording, decode
from fictl.profile.events.result import Result
from fictl.profile.events.timeline import write_trace
from fictl.profile.request import Request

_PROGRAM = "fictl.profile.events.one"
_ERRORS = {2: UsageError, 3: SetupError}
_LAST = 12


def profile(
    request: Request,
    blocks: str = "",
    events: int = 0,
    trace: Path | None = None,
    say: Callable[[str], object] = lambda line: None,
) -> Result:
    """`blocks` as Blocks.parse reads it; so many `events` a warp has room for, 0: as it needs.

    `trace` is written in any case, into the request's folder where it is None.
    """
    chosen, names = Blocks.parse(blocks), _names(request)
    with tempfile.TemporaryDirectory() as folder:
        memory = Path(folder) / "memory"
        said = _said(request, names, chosen, events, memory)
        heard = _listen(request, said, say)
        recording = _decoded(heard.recorded, memory.read_bytes(), names)
    path = trace or request.file(".events.json")
    write_trace(recording, path, heard.case)
    return Result(
        str(request.folder), heard.case, heard.device, heard.recorded["capacity"], recording, path
    )


def _names(request: Request) -> Names:
    """An op without events needs no build to be told so."""
    names = names_of(request.folder.specs())
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


def _said(
    request: Request, names: Names, blocks: Blocks, events: int, memory: Path
) -> dict[str, Any]:
    return {
        "op": str(request.folder.op),
        "functions": sorted(request.functions),
        "options": request.options.to_dict(),
        "kernels": sorted(names.kernels),
        "blocks": asdict(blocks),
        "events": events,
        "file": str(memory),
    }


@dataclass
class _Heard:
    """Of the program: what it said, and its last lines, should it end before it is done."""

    say: Callable[[str], object]
    case: str = ""
    device: str = ""
    recorded: dict[str, Any] = field(default_factory=dict)
    error: FictlError | None = None
    lines: list[str] = field(default_factory=list)

    def hear(self, line: str) -> None:
        message = received(line)
        if message is None:
            if line.strip():
                self.lines.append(line.rstrip())
                self.say(line.rstrip())
        elif message["kind"] == "case":
            self.case, self.device = message["case"], message["device"]
        elif message["kind"] == "recorded":
            self.recorded = message
        elif message["kind"] == "error":
            kind = _ERRORS.get(message["code"], FictlError)
            self.error = kind(message["message"], message["hint"])


def _listen(request: Request, said: Mapping[str, Any], say: Callable[[str], object]) -> _Heard:
    heard = _Heard(say)
    seconds = request.options.timeout
    argv = [sys.executable, "-m", _PROGRAM, json.dumps(said)]
    try:
        done = stream(argv, heard.hear, env=_environment(request), timeout=seconds)
    except TimedOut:
        raise FictlError(
            f"it did not end within {seconds:g} s, and was killed", "--timeout gives more"
        ) from None
    if heard.error:
        raise heard.error
    if not heard.recorded:
        last = "\n".join(heard.lines[-_LAST:])
        raise FictlError(f"its process ended before it had recorded (exit code {done.code})", last)
    return heard


def _environment(request: Request) -> dict[str, str]:
    """Other variants would come before the one that records."""
    return {
        **request.environment(),
        settings.JIT_PROFILE.name: "1",
        settings.JIT_DEBUG.name: "0",
        settings.EMU_CHECK.name: "0",
    }


def _decoded(recorded: Mapping[str, Any], memory: bytes, names: Names) -> Recording:
    raws = {}
    start = 0
    for part in recorded["parts"]:
        region = memory[start : start + part["bytes"]]
        start += part["bytes"]
        found = list(slots(region, recorded["capacity"]))
        if found:
            raws[part["kernel"]] = Raw(part["launches"], found)
    if not raws:
        raise FictlError("the second call launched none of the kernels of the first")
    return decode(raws, names, [tuple(anchor) for anchor in recorded["anchors"]])
