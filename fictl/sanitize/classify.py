"""Titles of compute-sanitizer's reports, translated to the words of the emulated device."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from fictl.emu import describe
from fictl.emu.report import Place
from fictl.emu.symbols import plain_name
from fictl.sanitize.memory import access, copied, uninitialised
from fictl.sanitize.order import barrier, hazard, race
from fictl.sanitize.title import Title, number

# Title whose line is only in the output of the kernel itself.
ASSERT = "Warp assert"


def classify(title: str, details: Sequence[str]) -> Title | None:
    """Classify a title; None if it belongs to a banner or a summary, not to a report."""
    for pattern, make in _TITLES:
        match = re.match(pattern, title)
        if match:
            return make(match, details)
    # A kind that is not known yet is reported in the tool's own words.
    return Title("other", title.rstrip(".")) if _has_place(details) else None


def _has_place(details: Sequence[str]) -> bool:
    return any(line.startswith(("at ", "by thread", "Host Frame")) for line in details)


def _assert(match: re.Match[str], details: Sequence[str]) -> Title:
    printed = re.match(
        r"(?P<file>.+?):(?P<line>\d+): (?P<kernel>.+): block: \S+ thread: \S+ "
        r"Assertion `(?P<what>.*)` failed",
        next(iter(details), ""),
    )
    if printed is None:
        return Title("assert", describe.describe("assert", {}))
    place = Place(printed["file"], int(printed["line"]))
    return Title("assert", printed["what"], {}, plain_name(printed["kernel"]), place)


def _trap(match: re.Match[str], details: Sequence[str]) -> Title:
    return Title("trap", describe.describe("trap", {}))


def _leak(match: re.Match[str], details: Sequence[str]) -> Title:
    size = number(match[1])
    return Title("leak", f"{size} bytes that were allocated are never freed", {"bytes": size})


def _api(match: re.Match[str], details: Sequence[str]) -> Title:
    error, code, why, call = match.groups()
    facts = {"error": error, "code": int(code), "call": call}
    refused = "Launch" in call and not re.search(r"Failure|FAILED|Illegal|ILLEGAL", error)
    kind = "bad-launch" if refused else "api-error"
    return Title(kind, f"{call} returned {error} ({why})", facts)


def _stack(match: re.Match[str], details: Sequence[str]) -> Title:
    return Title("stack-overflow", "the stack of a thread is full")


def _plain(kind: str) -> Callable[[re.Match[str], Sequence[str]], Title]:
    def make(match: re.Match[str], details: Sequence[str]) -> Title:
        text = match[0].strip().rstrip(".")
        return Title(kind, text[:1].lower() + text[1:])

    return make


_Make = Callable[[re.Match[str], Sequence[str]], Title]
_TITLES: tuple[tuple[str, _Make], ...] = (
    (
        r"Invalid __(?P<space>\w+)__ (?P<access>\w+)(?:.* of size (?P<size>[\d,]+) bytes?)?",
        access,
    ),
    (
        r"Uninitialized __(?P<space>\w+)__ memory read(?: of size (?P<size>[\d,]+) bytes?)?",
        uninitialised,
    ),
    (r"Host API (?:memory access error|uninitialized memory access)", copied),
    (r"(?:Error: |Warning: )?Race reported between (?P<side>.*)", race),
    (r"(?:Error: |Warning: )?(Potential \w+ hazard .*)", hazard),
    (r"Barrier error detected\. (.*)", barrier),
    (r"Leaked ([\d,]+) bytes?", _leak),
    (r'Program hit (\w+) \(error (\d+)\)(?: due to "(.*)")? on CUDA API call to (\w+)', _api),
    (r"(?:Stack overflow|Exceeded.*stack).*", _stack),
    (r"(?:Malloc|Free)[^:]*(?:error|Error).*", _plain("bad-free")),
    (ASSERT, _assert),
    (r"Trace/breakpoint trap", _trap),
    (r"(?:Illegal instruction|Invalid PC).*", _plain("trap")),
)
