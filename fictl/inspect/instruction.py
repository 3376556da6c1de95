"""Parser of SASS from nvdisasm: the instructions of each kernel, with their source lines."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

_SECTION = re.compile(r"\s*\.section\s+\.text\.([^,\s]+)")
_PLACE = re.compile(r'\s*//## File "([^"]*)", line (\d+)')
_LABEL = re.compile(r"(\.L_\S+):\s*$")
_FUNCTION = re.compile(r"\s*\.type\s+(\S+),@function")
_INSTRUCTION = re.compile(
    r"\s+/\*(?P<offset>[0-9a-f]{4,})\*/\s+"
    r"(?P<text>(?:@!?U?P\w+\s+)?(?P<opcode>[A-Z][\w.]*)[^;]*?)\s*;"
)
_NAMED = re.compile(r"\.L_\w+|\$__internal_\d+_")


@dataclass(frozen=True)
class SourcePlace:
    """A line of a source file; `file` is a name that is the same in any checkout."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class SassInstruction:
    """An instruction; `label` is its name in jumps to it."""

    offset: int
    opcode: str
    text: str
    place: SourcePlace | None = None
    label: str = ""

    @property
    def is_padding(self) -> bool:
        return self.opcode == "NOP" or (self.opcode == "BRA" and bool(self.label) and self._jumps)

    @property
    def plain(self) -> str:
        """Text without the numbers of labels, which depend on the other kernels of the file."""
        return _NAMED.sub("label", self.text)

    @property
    def _jumps(self) -> bool:
        """True for a jump to itself, which follows the last instruction of a kernel."""
        return self.label in self.text


def parse_sass(
    text: str, portable: Callable[[str], str] = str
) -> dict[str, tuple[SassInstruction, ...]]:
    """Parse the instructions of each kernel, by its mangled name.

    Of a chain of inlined calls, the innermost line in the project counts: `portable` gives files of
    the project a relative name.
    """
    by_name: dict[str, list[SassInstruction]] = {}
    current: list[SassInstruction] = []
    chain: list[SourcePlace] = []
    in_chain, label = False, ""
    for line in text.splitlines():
        if match := _PLACE.match(line):
            chain = [] if not in_chain else chain
            in_chain = True
            chain.append(SourcePlace(portable(match[1]), int(match[2])))
            continue
        in_chain = False
        if match := _INSTRUCTION.match(line):
            offset = int(match["offset"], 16)
            words = " ".join(match["text"].split())
            current.append(SassInstruction(offset, match["opcode"], words, _own(chain), label))
            label = ""
        elif match := _LABEL.match(line):
            label = match[1]
        elif match := _SECTION.match(line):
            current, chain, label = by_name.setdefault(match[1], []), [], ""
        elif _FUNCTION.match(line):
            chain = []  # A called function is not on the kernel's last line.
    return {name: tuple(_trimmed(code)) for name, code in by_name.items()}


def digest_of(code: Iterable[SassInstruction]) -> str:
    """Digest of the code without the numbers of labels, which count through a whole module."""
    seen: dict[str, str] = {}

    def renamed(match: re.Match[str]) -> str:
        return seen.setdefault(match[0], f"label{len(seen)}")

    text = "\n".join(_NAMED.sub(renamed, one.text) for one in code)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _own(chain: list[SourcePlace]) -> SourcePlace | None:
    ours = (place for place in chain if not place.file.startswith("/"))
    return next(ours, chain[0] if chain else None)


def _trimmed(code: list[SassInstruction]) -> Iterator[SassInstruction]:
    """Drop the padding of the last cache line."""
    last = len(code)
    while last and code[last - 1].is_padding:
        last -= 1
    return iter(code[:last])
