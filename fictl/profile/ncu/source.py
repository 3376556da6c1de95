"""Source lines where a kernel waits: the source page of ncu's report, as CSV."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

_SAMPLES, _EXECUTED = "# Samples", "Instructions Executed"
_STALL, _OTHER_HALF = "stall_", "(Not Issued)"
# Not waiting: this instruction was issued, or another warp's.
_BUSY = {"selected", "not_selected"}

# Distance of a file from the op: of the lines that an instruction comes from, the nearest counts.
Near: TypeAlias = Callable[[str], int]
Place: TypeAlias = tuple[str, int]


@dataclass(frozen=True)
class Line:
    """A line of a source file, and the samples in which a warp was at one of its instructions.

    local: number of local memory loads and stores that warps executed for it.
    """

    path: str
    number: int
    text: str
    samples: int
    stalls: Mapping[str, int]
    local: int = 0

    @property
    def place(self) -> str:
        return f"{Path(self.path).name}:{self.number}"

    @property
    def stall(self) -> str:
        """The most frequent stall of its warps; '' if they did not wait."""
        waits = {name: count for name, count in self.stalls.items() if name not in _BUSY}
        return max(waits, key=waits.__getitem__) if any(waits.values()) else ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "file": self.path,
            "line": self.number,
            "text": self.text,
            "samples": self.samples,
            "stall": self.stall or None,
            "local": self.local,
        }


@dataclass(frozen=True)
class _Instruction:
    samples: int
    stalls: Mapping[str, int]
    local: int


@dataclass
class _Table:
    """The lines of one file with code in a launch, and their instructions by address."""

    function: str
    path: str
    texts: dict[int, str] = field(default_factory=dict)
    code: dict[int, dict[str, _Instruction]] = field(default_factory=dict)


def parse_source(text: str, near: Near = lambda path: 0) -> dict[str, list[tuple[Line, ...]]]:
    """Parse the page: function -> for each of its launches, the lines with samples, the most first.

    A function has a table for each file. A second table of the same file begins another launch,
    unless the tables are equal, as ncu prints one twice for some functions.
    """
    launches: defaultdict[str, list[dict[str, _Table]]] = defaultdict(list)
    for table in _tables(text):
        known = launches[table.function]
        if any(kernel.get(table.path) == table for kernel in known):
            continue
        if not known or table.path in known[-1]:
            known.append({})
        known[-1][table.path] = table
    return {
        function: [_lines(list(files.values()), near) for files in known]
        for function, known in launches.items()
    }


def _lines(tables: Sequence[_Table], near: Near) -> tuple[Line, ...]:
    samples: Counter[Place] = Counter()
    local: Counter[Place] = Counter()
    stalls: defaultdict[Place, Counter[str]] = defaultdict(Counter)
    for place, instruction in _each_once(tables, near):
        samples[place] += instruction.samples
        local[place] += instruction.local
        stalls[place].update(instruction.stalls)
    texts = {(table.path, number): text for table in tables for number, text in table.texts.items()}
    return tuple(
        Line(*place, texts[place], count, dict(stalls[place]), local[place])
        for place, count in samples.most_common()
        if count or local[place]
    )


def _each_once(tables: Sequence[_Table], near: Near) -> Iterator[tuple[Place, _Instruction]]:
    """Yield each instruction once. An inlined instruction appears at every line of its inlining.

    It counts for the nearest file, and there for the line with the least code.
    """
    chosen: dict[str, tuple[tuple[int, int], Place, _Instruction]] = {}
    for table in tables:
        for number, code in table.code.items():
            rank = (near(table.path), -len(code))
            for address, instruction in code.items():
                if address not in chosen or rank > chosen[address][0]:
                    chosen[address] = (rank, (table.path, number), instruction)
    return ((place, instruction) for _, place, instruction in chosen.values())


def _tables(text: str) -> Iterator[_Table]:
    function, path = "", ""
    head: list[str] = []
    table: _Table | None = None
    number = 0
    for row in csv.reader(text.splitlines()):
        if row[:1] == ["File Path"]:
            path = row[1]
        elif row[:1] == ["Function Name"]:
            function = row[1]
        elif "Line No" in row and _SAMPLES in row:
            if table:
                yield table
            head, table = row, _Table(function, path)
        elif table and len(row) == len(head):
            number = _read(table, head, row, number)
    if table:
        yield table


def _read(table: _Table, head: Sequence[str], row: Sequence[str], number: int) -> int:
    """Read a line of the file, or an instruction of the line before; return the line's number.

    The first column `Source` is the file's, the second the machine's.
    """
    word, address = row[head.index("Line No")], row[head.index("Address")]
    if word.isdigit():
        number = int(word)
        table.texts[number] = row[head.index("Source")].strip()
    elif number in table.texts and address.startswith("0x"):
        stalls = {
            name.removeprefix(_STALL): count
            for name, text in zip(head, row, strict=True)
            if name.startswith(_STALL) and _OTHER_HALF not in name and (count := _count(text))
        }
        samples = _count(row[head.index(_SAMPLES)])
        table.code.setdefault(number, {})[address] = _Instruction(
            samples, stalls, _local(head, row)
        )
    return number


def _local(head: Sequence[str], row: Sequence[str]) -> int:
    columns = dict(zip(head, row, strict=True))
    return _count(columns.get(_EXECUTED, "")) if columns.get("Address Space") == "Local" else 0


def _count(text: str) -> int:
    digits = text.replace(",", "")
    return int(digits) if digits.isdigit() else 0
