"""Focus: the one block and thread of a kernel that a debugger stops in."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fictl.errors import InvalidValue

_INDEX = re.compile(r"\s*([0-9]{1,10})\s*(?:,\s*([0-9]{1,10})\s*)?(?:,\s*([0-9]{1,10})\s*)?")

Index = tuple[int, int, int]


@dataclass(frozen=True)
class Focus:
    """None is any block, any thread."""

    block: Index | None = None
    thread: Index | None = None

    @classmethod
    def parse(cls, block: str, thread: str) -> Focus:
        """Each as in '3' or '3,0,1'; '' where it does not matter."""
        return cls(_index("--block", block), _index("--thread", thread))

    @property
    def condition(self) -> str:
        """Condition in the debugger's language; '' where any thread will do."""
        indices = {"blockIdx": self.block, "threadIdx": self.thread}
        return " && ".join(
            f"{name}.{axis} == {value}"
            for name, index in indices.items()
            if index is not None
            for axis, value in zip("xyz", index, strict=True)
        )

    @property
    def words(self) -> str:
        """`block (3,0,0) thread (5,0,0)`, as cuda-gdb has it; '' where any thread will do."""
        indices = {"block": self.block, "thread": self.thread}
        return " ".join(
            f"{name} ({','.join(map(str, index))})"
            for name, index in indices.items()
            if index is not None
        )


def _index(option: str, text: str) -> Index | None:
    if not text:
        return None
    match = _INDEX.fullmatch(text)
    if match is None:
        raise InvalidValue(
            f"{option} {text!r} is not an index", "as in 3, 3,0 or 3,0,1: x, y and z"
        )
    x, y, z = (int(number or 0) for number in match.groups())
    return x, y, z
