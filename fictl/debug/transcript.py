"""Transcript of a debugger in a batch, without its noise, and the places of its stops."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fictl.process import Finished

_NOISE = re.compile(
    r"\[(?:New|Thread debugging|Detaching after|Inferior \d+ \(process \d+\) killed|Thread 0x)"
    r"|Using host libthread_db|Source directories searched: "
    r"|Function \".*\" not defined\.$"
    r"|No source file named .*\.$"
    r"|(?:Temporary b|B)reakpoint \d+ \(.*\) pending\.$"
    r"|warning: (?:Cuda Driver error detected|Error disabling address space randomization)"
    # Messages of a gdb without a setting that is turned off here.
    r"|Undefined set (?:debuginfod|auto-load)|Support for debuginfod is not compiled"
    r"|Kill the program being debugged\?"
    r"|\$\d+ = <error: No frame selected>$"
)
_WHERE = re.compile(
    r"^\[(?:Switching focus to CUDA kernel \d+, grid \d+|emulated:),? "
    r"block \((?P<block>[\d,]+)\), thread \((?P<thread>[\d,]+)\)",
    re.MULTILINE,
)
_BREAKPOINT = re.compile(
    r"^(?:CUDA thread hit|Thread \d+ \"[^\"]*\" hit) (?:Temporary b|B)reakpoint [\d.]+, "
    r"(?P<frame>.*)$",
    re.MULTILINE,
)
_FAULT = re.compile(
    r"^(?:Thread \d+ \"[^\"]*\"|Program) received signal (?P<fault>[^\n]*?)\.?$", re.MULTILINE
)
# The access that caused an exception; the warp's frame may be later in the code.
_TRIGGER = re.compile(r"^The exception was triggered at PC .*\((?P<file>[^()]+):(?P<line>\d+)\)$")
_PLACE = re.compile(r"\bat (?P<file>[^\n]*?):(?P<line>\d+)$", re.MULTILINE)
_KERNEL = re.compile(r"(?:#\d+ +)?(?:0x[0-9a-f]+ in )?(?P<kernel>[^(]*?)(?:<<<| \()")
_ENDED = re.compile(r"^\[Inferior \d+ \(process \d+\) exited (?P<how>.*)\]$", re.MULTILINE)

# Number of lines that describe a stop.
_LINES = 6
# Message of an emulated kernel that ends itself; its frame follows.
_ENDS, _ENDED_ITSELF = "fictl_emu_stop ", "the kernel ends itself"


@dataclass(frozen=True)
class DebugStop:
    """A stop, at a breakpoint or at a fault; `fault` is '' at a breakpoint."""

    kernel: str
    fault: str = ""
    block: tuple[int, ...] | None = None
    thread: tuple[int, ...] | None = None
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class Transcript:
    """Output of a debugger; `ended` is how the program exited, as 'with code 01', or ''."""

    output: str
    stops: tuple[DebugStop, ...]
    ended: str = ""

    @classmethod
    def of(cls, finished: Finished) -> Transcript:
        lines = finished.output.splitlines()
        text = "\n".join(line for line in lines if not _NOISE.match(line)).strip("\n")
        ended = _ENDED.search(text)
        return cls(text, tuple(_stops(text)), ended["how"] if ended else "")

    @property
    def fault(self) -> DebugStop | None:
        return next((stop for stop in self.stops if stop.fault), None)

    @property
    def exit_code(self) -> int:
        """1 for a fault, and for a kernel that was not reached; else 0."""
        return 1 if self.fault or not self.stops else 0

    def to_dict(self) -> dict[str, Any]:
        return {
            "stops": [vars(stop) for stop in self.stops],
            "ended": self.ended,
            "output": self.output,
        }


def _stops(text: str) -> list[DebugStop]:
    matches = [*_BREAKPOINT.finditer(text), *_FAULT.finditer(text)]
    return [_stop(text, match) for match in sorted(matches, key=lambda match: match.start())]


def _stop(text: str, match: re.Match[str]) -> DebugStop:
    """Parse a stop; its thread is printed after it, unless it is the same as before."""
    fault = match.groupdict().get("fault") or _ends(match)
    behind = "".join(text[match.start() :].splitlines(keepends=True)[:_LINES])
    if fault:  # The frame has lines of its own.
        behind = behind[match.end() - match.start() :]
    earlier = [*_WHERE.finditer(text, 0, match.start())][-1:]
    where = next(iter([*_WHERE.finditer(behind), *earlier]), None)
    frame = _frame(behind) if fault else match["frame"]
    kernel = _KERNEL.match(frame)
    file, line = _place(frame, text[: match.start()] if fault else "")
    return DebugStop(
        kernel["kernel"] if kernel else "",
        fault,
        _index(where, "block"),
        _index(where, "thread"),
        file,
        line,
    )


def _place(frame: str, before: str) -> tuple[str, int]:
    """Place of a stop: from its frame, or from the message before it, which is nearer to
    the cause.
    """
    place = _PLACE.search(frame)
    file, line = (place["file"], int(place["line"])) if place else ("", 0)
    for trigger in filter(None, map(_TRIGGER.match, before.splitlines()[-_LINES:])):
        same = Path(trigger["file"]).name == Path(file).name
        file, line = file if same else trigger["file"], int(trigger["line"])
    return file, line


def _ends(match: re.Match[str]) -> str:
    return _ENDED_ITSELF if (match.groupdict().get("frame") or "").startswith(_ENDS) else ""


def _frame(text: str) -> str:
    """First line of the text that names a function."""
    told = (line for line in text.splitlines() if not line.startswith("["))
    return next((line for line in told if _KERNEL.match(line)), "")


def _index(where: re.Match[str] | None, name: str) -> tuple[int, ...] | None:
    return tuple(map(int, where[name].split(","))) if where else None
