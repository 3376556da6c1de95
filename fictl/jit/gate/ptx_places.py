"""Source places of PTX: the chain of inlined calls of a line, and a function's own lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', re.MULTILINE)
_PLACE = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:.*\binlined_at\s+(\d+)\s+(\d+)\s+(\d+))?")
_FUNCTION = re.compile(
    r"^(?:\.\w+\s+)*\.(?:entry\s+|func\s+(?:\([^)]*\)\s*)?)(?P<name>[\w$]+)", re.MULTILINE
)
# With one of these, ptxas knows the registers of a kernel at entry.
_KNOWS_REGISTERS = (".minnctapersm", ".maxnreg")

_Position = tuple[str, str, str]


@dataclass(frozen=True)
class PtxFunction:
    """A function's lines in the PTX, from its name on; `head` ends before its body."""

    name: str
    first: int
    lines: tuple[str, ...]

    @property
    def head(self) -> str:
        return "\n".join(self.lines).partition("\n{")[0]

    def line_of(self, instruction: str) -> int:
        """Line of the first such instruction; 0 if there is none."""
        lines = enumerate(self.lines, self.first)
        return next((at for at, line in lines if instruction in line), 0)

    @property
    def lacks_register_count(self) -> bool:
        """True for a kernel whose setmaxnreg ptxas ignores."""
        return bool(self.line_of("setmaxnreg")) and not any(
            word in self.head for word in _KNOWS_REGISTERS
        )


@dataclass(frozen=True)
class PtxPlaces:
    """PTX with `.loc` of each part, as -lineinfo gives."""

    text: str
    _lines: list[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_lines", self.text.splitlines())

    @cached_property
    def functions(self) -> dict[str, PtxFunction]:
        return {one.name: one for one in self._functions()}

    def at(self, line: int) -> tuple[tuple[str, int], ...]:
        """Files and lines of a line of the PTX: the innermost first, the kernel's own last."""
        callers: dict[_Position, _Position] = {}
        here: _Position | None = None
        for text in self._lines[:line]:
            if match := _PLACE.match(text):
                here = match[1], match[2], match[3]
                callers.pop(here, None)
                if match[4]:
                    callers[here] = match[4], match[5], match[6]
        return tuple(self._chain(here, callers)) if here else ()

    def start_of(self, function: str) -> tuple[tuple[str, int], ...]:
        """Place of a function's first line."""
        own = self.functions.get(function)
        return self.at(own.line_of(".loc")) if own and own.line_of(".loc") else ()

    def _chain(
        self, here: _Position | None, callers: dict[_Position, _Position]
    ) -> Iterator[tuple[str, int]]:
        seen: set[_Position] = set()
        while here and here not in seen:
            seen.add(here)
            yield self._files.get(here[0], "?"), int(here[1])
            here = callers.get(here)

    @cached_property
    def _files(self) -> dict[str, str]:
        return dict(_FILE.findall(self.text))

    def _functions(self) -> Iterator[PtxFunction]:
        for match in _FUNCTION.finditer(self.text):
            end = self.text.find("\n}", match.start())
            body = self.text[match.start() : end if end >= 0 else len(self.text)]
            first = self.text.count("\n", 0, match.start()) + 1
            if "{" in body.partition(";")[0]:  # A declaration has no body.
                yield PtxFunction(match["name"], first, tuple(body.splitlines()))
