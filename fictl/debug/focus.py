"""The block and the thread of a kernel in which a debugger stops."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fictl.errors import InvalidValue

_INDEX = re.compile(r"\s*([0-9]{1,10})\s*(?:,\s*([0-9]{1,10})\s*)?(?:,\s*([0-9]{1,10})\s*)?")

Index = tuple[int, int, int]


@dataclass(frozen=True)
class Focus:
    """A block and a thread; None means any."""

    block: Index | None = None
    thread: Index | None = None

    @classmethod
    def parse(cls, block: str, thread: str) -> Focus:
        """Parse a block and a thread, as in '3' or '3,0,1'; '' means any."""
        return cls(_index("--block", block), _index("--thread", thread))

    @property
    def condition(self) -> str:
        """Condition of a breakpoint; '' for any thread."""
        indices = {"blockIdx": self.block, "threadIdx": self.thread}
        return " && ".join(
            f"{name}.{axis} == {value}"
            for name, index in indices.items()
            if index is not None
            for axis, value in zip("xyz", index, strict=True)
        )

    @property
    def words(self) -> str:
        """Focus in cuda-gdb's words, `block (3,0,0) thread (5,0,0)`; '' for any thread."""
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
