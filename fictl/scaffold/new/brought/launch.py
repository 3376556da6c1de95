"""Launch shape of a kernel that nothing launches yet: a thread per element, or a block per row."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fictl.errors import UsageError
from fictl.scaffold.new.brought.kernel_source import KernelSource

_NOISE = re.compile(
    r"static_cast<[^<>]*>|\((?:u?int(?:32|64)?_t|int|long long|long|size_t)\)|[()\s]"
)
_THREAD = re.compile(
    r"blockIdx\.x\*([\w.]+)\+threadIdx\.x|threadIdx\.x\+blockIdx\.x\*([\w.]+)"
    r"|([\w.]+)\*blockIdx\.x\+threadIdx\.x|threadIdx\.x\+([\w.]+)\*blockIdx\.x"
)
_ELSE = re.compile(r"(?:blockIdx|threadIdx|blockDim|gridDim)\.[yz]|\bextern\s+__shared__")
_THREADS = "256"


@dataclass(frozen=True)
class Shape:
    """`threads` is a C++ expression."""

    per_row: bool
    threads: str

    @property
    def words(self) -> str:
        return "a block a row" if self.per_row else "a thread an element"


def shape(source: KernelSource) -> Shape | None:
    """None for a host function, which knows."""
    function = source.function
    if not function.is_global:
        return None
    beyond = _ELSE.search(function.body)
    if beyond or "blockIdx.x" not in function.body:
        what = beyond[0] if beyond else "no blockIdx.x"
        raise UsageError(
            f"{source.at} has {what}, so how it is launched cannot be seen from it",
            "point --kernel at the host function that launches it",
        )
    match = _THREAD.search(_NOISE.sub("", function.body))
    multiple = next(filter(None, match.groups()), "") if match else ""
    threads = (multiple if multiple != "blockDim.x" else "") or function.bounds or _THREADS
    threads = source.given.get(threads, threads)
    named = not threads.isdecimal() and "::" not in threads
    return Shape(match is None, function.scope + threads if named else threads)
