"""One instruction being translated to C++, and the table of translations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fictl.emu.rewrite.ptx.operands import (
    TYPES,
    Names,
    NotEmulated,
    P,
    base_and_offset,
    vector,
)
from fictl.emu.rewrite.ptx.syntax import Written
from fictl.emu.rewrite.scan import Malformed

ROUNDINGS = {
    "rn": "kNearest",
    "rz": "kZero",
    "rm": "kDown",
    "rp": "kUp",
    "rna": "kAway",
    "rni": "kNearest",
    "rzi": "kZero",
    "rmi": "kDown",
    "rpi": "kUp",
}


@dataclass
class Instruction:
    """An instruction under translation. Known modifiers are removed; any left are an error."""

    name: str
    modifiers: list[str]
    operands: tuple[str, ...]
    names: Names

    def take(self, *choices: str) -> str | None:
        """Remove and return the first modifier that is one of these; None if there is none."""
        for modifier in self.modifiers:
            if modifier in choices:
                self.modifiers.remove(modifier)
                return modifier
        return None

    def ignore(self, *modifiers: str, prefix: str = "\n") -> None:
        """Remove modifiers without effect here: hints, and what the host does anyway."""
        self.modifiers = [
            modifier
            for modifier in self.modifiers
            if modifier not in modifiers and not modifier.startswith(prefix)
        ]

    def type(self) -> str:
        """Remove and return the last modifier, which must be a PTX type."""
        if not self.modifiers or self.modifiers[-1] not in TYPES:
            raise NotEmulated(self.name)
        return self.modifiers.pop()

    def rounding(self) -> str | None:
        return self.take(*ROUNDINGS)

    def done(self, *counts: int) -> None:
        """Check that no modifier is left and that the operand count is one of `counts`."""
        if self.modifiers:
            raise NotEmulated(f".{self.modifiers[0]}")
        if len(self.operands) not in counts:
            expected = " or ".join(map(str, counts))
            raise Malformed(0, f"{self.name} takes {expected} operands, not {len(self.operands)}")

    def operand(self, index: int) -> str:
        if index >= len(self.operands):
            raise Malformed(0, f"{self.name} takes more than {len(self.operands)} operands")
        return self.operands[index]

    def value(self, index: int) -> str:
        return self.names.value(self.operand(index))

    def get(self, index: int, type_: str) -> str:
        """Return an operand, read as a PTX type."""
        return self.cast(self.operand(index), type_)

    def cast(self, operand: str, type_: str) -> str:
        return f"{P}get<{TYPES[type_]}>({self.names.value(operand)})"

    def set(self, index: int, value: str) -> str:
        return self.assign(self.operand(index), value)

    def assign(self, operand: str, value: str) -> str:
        return f"{P}set({self.names.value(operand)}, {value});"

    def parts(self, index: int) -> list[str]:
        return vector(self.operand(index))

    def address(self, index: int, space: str) -> str:
        """Return an address operand as a pointer to char."""
        return self.pointer(self.operand(index), space)

    def pointer(self, text: str, space: str) -> str:
        """Return `[register + offset]` as a pointer to char."""
        base, offset = base_and_offset(text)
        where = "shared_address" if space.startswith("shared") else "generic_address"
        if space == "shared::cluster":
            where = "cluster_target"
        pointer = f"{P}{where}({self.cast(base, 'u64')})"
        return pointer if offset == "0" else f"({pointer} + {self.cast(offset, 's64')})"


Translation = Callable[[Instruction], str]
TABLE: dict[str, Translation] = {}


def emulates(*names: str) -> Callable[[Translation], Translation]:
    """Register a translation for these opcodes; the longest matching name wins."""

    def enter(translation: Translation) -> Translation:
        TABLE.update(dict.fromkeys(names, translation))
        return translation

    return enter


def translate(written: Written, names: Names) -> str:
    """Translate one instruction to a C++ statement."""
    words = written.opcode.split(".")
    for count in range(len(words), 0, -1):
        name = ".".join(words[:count])
        if name in TABLE:
            return TABLE[name](Instruction(name, words[count:], written.operands, names))
    raise NotEmulated(written.opcode)
