"""Parser of what `ptxas -v` prints: the resources of each kernel, and remarks on its code."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

VERBOSE = "-Xptxas=-v"

_ENTRY = re.compile(r"Compiling entry function '([^']+)'(?: for 'sm_(\w+)')?")
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers")
_BARRIERS = re.compile(r"used (\d+) barriers")
_SHARED = re.compile(r"(\d+) bytes smem")
_STACK = re.compile(r"(\d+) bytes cumulative stack size")
_REMARK = re.compile(r"^ptxas (?:info|warning)\s*: \((C\d+)\) (.+)$", re.MULTILINE)
_LINE = re.compile(r"around line (\d+)")
_FUNCTION = re.compile(r"in (?:the )?function '([^']+)'")
_NOISE = re.compile(
    r"^Potential Performance Loss: | in (?:the )?function '[^']*'\.?$| in around line \d+"
)


@dataclass(frozen=True)
class Usage:
    """Resources of one kernel and the functions it calls: bytes of a thread, `shared` of
    a block. `target` is the number of its architecture, as in 90a.
    """

    target: str = ""
    registers: int = 0
    barriers: int = 0
    shared: int = 0
    local: int = 0
    spill_stores: int = 0
    spill_loads: int = 0

    @property
    def spill_bytes(self) -> int:
        return self.spill_stores + self.spill_loads


@dataclass(frozen=True)
class Remark:
    """A numbered remark on a function's code. `line` is one of the PTX; '' and 0 are not known."""

    code: str
    text: str
    function: str = ""
    line: int = 0

    @property
    def gist(self) -> str:
        """Text without the function's mangled name and the line of a file that nobody has."""
        return _NOISE.sub("", self.text)


def parse_usage(text: str) -> list[tuple[str, Usage]]:
    """Parse resources by mangled name, for each architecture in turn.

    ptxas prints called functions after their kernel.
    """
    kernels: list[tuple[str, Usage]] = []
    for line in text.splitlines():
        if match := _ENTRY.search(line):
            kernels.append((match[1], Usage(match[2] or "")))
        elif kernels:
            name, before = kernels[-1]
            kernels[-1] = (name, _with_line(before, line))
    return kernels


def parse_remarks(text: str) -> tuple[Remark, ...]:
    """Parse remarks, once each; several architectures repeat them."""
    return tuple(dict.fromkeys(_remark(code, words) for code, words in _REMARK.findall(text)))


def _with_line(before: Usage, line: str) -> Usage:
    if match := _FRAME.search(line):
        frame, stores, loads = map(int, match.groups())
        return replace(
            before,
            local=max(before.local, frame),
            spill_stores=before.spill_stores + stores,
            spill_loads=before.spill_loads + loads,
        )
    if match := _USED.search(line):
        return replace(
            before,
            registers=int(match[1]),
            barriers=_number(_BARRIERS, line),
            shared=_number(_SHARED, line),
            local=max(before.local, _number(_STACK, line)),
        )
    return before


def _remark(code: str, text: str) -> Remark:
    function = _FUNCTION.search(text)
    return Remark(
        code, " ".join(text.split()), function[1] if function else "", _number(_LINE, text)
    )


def _number(pattern: re.Pattern[str], line: str) -> int:
    """Number on a line of ptxas; 0 if it is missing."""
    match = pattern.search(line)
    return int(match[1]) if match else 0
