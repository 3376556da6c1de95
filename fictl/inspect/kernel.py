"""One kernel, compiled for one architecture."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fictl.arch import Arch
from fictl.inspect.instruction import SassInstruction, SourcePlace, digest_of
from fictl.inspect.mnemonics import mix, pipe_of
from fictl.toolchain.kernel_name import readable

_ANONYMOUS = re.compile(r"(?<!\d)(\d+)_GLOBAL__N_")
_SETMAXNREG = re.compile(r"^(?:@\S+ )?USETMAXREG\b.*\b(0x[0-9a-f]+)$")


@dataclass(frozen=True)
class Opcode:
    """An instruction with its modifiers: how often it occurs, and where first."""

    count: int
    text: str
    place: SourcePlace | None


@dataclass(frozen=True)
class InspectedKernel:
    """Resources and instructions of a kernel.

    `local` is bytes a thread, `shared` bytes a block, `threads` the launch bound. None means that
    this kind of file does not have the number. `code` is a digest, equal for kernels with equal
    instructions. `registers` are those at entry, `setmaxnreg` the counts that warpgroups change to.
    `remarks` are texts of ptxas for which a build fails. `launched` is the block size that the
    sources launch it with, if their text tells.
    """

    mangled: str
    arch: str
    unit: str
    registers: int
    shared: int
    local: int
    spill_stores: int | None
    spill_loads: int | None
    barriers: int | None
    threads: int | None
    place: SourcePlace | None
    opcodes: Mapping[str, Opcode]
    code: str
    setmaxnreg: tuple[int, ...] = ()
    remarks: tuple[str, ...] | None = None
    launched: int | None = None

    @property
    def name(self) -> str:
        return readable(self.mangled)

    @property
    def places(self) -> tuple[SourcePlace, ...]:
        """Places of its instructions, as far as they are known: the first of each opcode."""
        return tuple(one.place for one in self.opcodes.values() if one.place)

    @property
    def function(self) -> str:
        """The name without namespaces and template arguments."""
        return self.name.partition("<")[0].rpartition("::")[2]

    @property
    def target(self) -> Arch:
        return Arch.parse(self.arch)

    @property
    def key(self) -> tuple[str, str, str]:
        """Identity within a module; the code is part of it, as Triton's variants share a name."""
        return self.mangled, self.arch, self.code

    @property
    def identity(self) -> tuple[str, str, str]:
        """Identity that stays the same from revision to revision."""
        return self.unit, _without_file(self.mangled), self.arch

    @property
    def spill_bytes(self) -> int | None:
        if self.spill_stores is None or self.spill_loads is None:
            return None
        return self.spill_stores + self.spill_loads

    @property
    def instructions(self) -> int:
        return sum(opcode.count for opcode in self.opcodes.values())

    @property
    def mix(self) -> dict[str, int]:
        return mix({name: opcode.count for name, opcode in self.opcodes.items()})

    def pipe(self, name: str) -> int:
        """Number of instructions for a pipe beside the warps: tensor or TMA."""
        return sum(count for opcode, count in self.mix.items() if pipe_of(opcode) == name)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> InspectedKernel:
        opcodes = {
            name: Opcode(one["count"], one["text"], _place(one["place"]))
            for name, one in data["opcodes"].items()
        }
        remarks = data["remarks"]
        plain = {
            "place": _place(data["place"]),
            "opcodes": opcodes,
            "setmaxnreg": tuple(data["setmaxnreg"]),
            "remarks": None if remarks is None else tuple(remarks),
        }
        return cls(**{**data, **plain})


def counted(code: Sequence[SassInstruction]) -> dict[str, Opcode]:
    opcodes: dict[str, Opcode] = {}
    for instruction in code:
        before = opcodes.get(instruction.opcode)
        if before:
            opcodes[instruction.opcode] = Opcode(before.count + 1, before.text, before.place)
        else:
            opcodes[instruction.opcode] = Opcode(1, instruction.text, instruction.place)
    return opcodes


def facts_of(code: Sequence[SassInstruction]) -> dict[str, Any]:
    """Fields of InspectedKernel that come from its instructions."""
    place = code[0].place if code else None
    matches = (_SETMAXNREG.match(instruction.text) for instruction in code)
    changed = {int(match[1], 16) for match in matches if match}
    return {
        "place": place,
        "opcodes": counted(code),
        "code": digest_of(code),
        "setmaxnreg": tuple(sorted(changed)),
    }


def _place(data: Mapping[str, Any] | None) -> SourcePlace | None:
    return SourcePlace(data["file"], data["line"]) if data else None


def _without_file(mangled: str) -> str:
    """Remove the file and its hash, after which nvcc names an anonymous namespace."""
    match = _ANONYMOUS.search(mangled)
    if not match:
        return mangled
    end = match.end(1) + int(match[1])
    rest = mangled[end:]
    return f"{mangled[: match.start()]}12_GLOBAL__N_1{_without_file(rest)}"
