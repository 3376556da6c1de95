"""Lines of source for addresses of code in a module, by addr2line and the module's debug info."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass

from fictl.emu.toolchain import HEADERS, RUNTIME
from fictl.process import ask
from fictl.toolchain import find_tool

_TOOLS = ("addr2line", "llvm-addr2line")

# Why not their full paths: a build from the cache may have been made by another checkout of the
# same bytes, whose paths its debug info holds.
_OURS = tuple(f"/{'/'.join(folder.parts[-3:])}/" for folder in (HEADERS, RUNTIME))


@dataclass(frozen=True)
class Frame:
    """One function in the chain of inlined calls at an address."""

    function: str
    file: str
    line: int

    @property
    def is_emulator(self) -> bool:
        return any(folder in self.file for folder in (*_OURS, "/include/c++/"))

    @property
    def is_of_source(self) -> bool:
        """A function that somebody wrote and named."""
        named = "{lambda" not in self.function and "operator()" not in self.function
        # What an emulator's function has inlined last gives it its line.
        return named and not self.is_emulator and not self.function.startswith("fictl_emu::")


def frames(module: str, offsets: Iterable[int]) -> dict[int, tuple[Frame, ...]]:
    """The chain at each offset, innermost first; empty where nothing is known."""
    wanted = sorted(set(offsets))
    tool = next(filter(None, map(find_tool, _TOOLS)), None)
    if tool is None or not wanted or not os.path.isfile(module):
        return dict.fromkeys(wanted, ())
    argv = [str(tool), "-e", module, "-a", "-i", "-f", "-C", *(f"{offset:#x}" for offset in wanted)]
    chains = re.split(r"^(0x[0-9a-f]+)\n", ask(argv).output, flags=re.MULTILINE)
    known = {int(at, 16): _chain(text) for at, text in zip(chains[1::2], chains[2::2], strict=True)}
    return {offset: known.get(offset, ()) for offset in wanted}


def _chain(text: str) -> tuple[Frame, ...]:
    """Lines in pairs: a function, and where in it."""
    lines = text.splitlines()
    chain = []
    for function, place in zip(lines[::2], lines[1::2], strict=False):
        match = re.match(r"(?!\?\?)(.*):(\d+)", place)
        if match:
            chain.append(Frame(plain_name(function), match[1], int(match[2])))
    return tuple(chain)


def plain_name(function: str) -> str:
    """`ScaleKernel<__half, 8>` of a demangled signature."""
    depth, start = 0, 0
    for at, letter in enumerate(function):
        if letter == "(" and not depth and not _is_of_name(function, at):
            inner = _inside(function, at)
            return plain_name(inner) if inner else function[start:at]
        if letter in "<(":
            depth += 1
        elif letter in ">)" and function[at - 1] != "-":
            depth -= 1
        elif letter == " " and not depth and not function.endswith("(anonymous", 0, at):
            start = at + 1  # behind the type that it returns
    return function[start:]


def _inside(function: str, at: int) -> str:
    """The lambda or local class defined in a function whose parameters begin at `at`."""
    depth = 0
    for end in range(at, len(function)):
        depth += {"(": 1, ")": -1}.get(function[end], 0)
        if not depth:
            rest = function[end + 1 :]
            return rest[2:] if rest.startswith("::") else ""
    return ""


def _is_of_name(function: str, at: int) -> bool:
    """True if this bracket is part of `(anonymous namespace)`, `operator()` or `{lambda(int)}`."""
    before = function[:at]
    return (
        function.startswith("(anonymous", at)
        or (function.startswith("()", at) and before.endswith("operator"))
        or before.endswith("{lambda")
    )
