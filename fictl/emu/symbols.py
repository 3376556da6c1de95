"""Finds source lines for code addresses in a module, by addr2line and the debug info."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from fictl.emu.places import true_path
from fictl.emu.toolchain import HEADERS, RUNTIME
from fictl.process import ask
from fictl.toolchain import find_tool

_TOOLS = ("addr2line", "llvm-addr2line")

# Parts of paths instead of full paths: a cached build may come from another checkout with the same
# content, and its debug info then holds that checkout's paths.
_OURS = tuple(f"/{'/'.join(folder.parts[-3:])}/" for folder in (HEADERS, RUNTIME))

# Headers of the toolkit: frames of intrinsics, which a line of the project calls.
_TOOLKIT = re.compile(r"/(?:targets/[\w-]+|nvidia/cu\w+|cuda[\w.-]*)/include/")


def is_of_toolkit(file: str) -> bool:
    return _TOOLKIT.search(file) is not None


@dataclass(frozen=True)
class Frame:
    """One function in the chain of inlined calls at an address."""

    function: str
    file: str
    line: int

    @property
    def is_emulator(self) -> bool:
        return any(folder in f"/{self.file}" for folder in (*_OURS, "/include/c++/"))

    @property
    def is_of_source(self) -> bool:
        """True for a named function of the user's source."""
        named = "{lambda" not in self.function and "operator()" not in self.function
        # Checks the name too: an emulator's function may show the line of code inlined into it.
        return named and not self.is_emulator and not self.function.startswith("fictl_emu::")


def frames(module: str, offsets: Iterable[int]) -> dict[int, tuple[Frame, ...]]:
    """Return the chain at each offset, innermost first; empty if unknown."""
    wanted = sorted(set(offsets))
    tool = next(filter(None, map(find_tool, _TOOLS)), None)
    if tool is None or not wanted or not os.path.isfile(module):
        return dict.fromkeys(wanted, ())
    stat = os.stat(module)
    known = _known(str(tool), module, (stat.st_ino, stat.st_mtime_ns, stat.st_size))
    missing = [offset for offset in wanted if offset not in known]
    if missing:
        known.update(_asked(str(tool), module, missing))
    return {offset: known.get(offset, ()) for offset in wanted}


@cache
def _known(tool: str, module: str, stamp: tuple[int, ...]) -> dict[int, tuple[Frame, ...]]:
    """Keep a file's chains: a kernel that is wrong reports the same places run after run."""
    return {}


def _asked(tool: str, module: str, offsets: list[int]) -> dict[int, tuple[Frame, ...]]:
    argv = [tool, "-e", module, "-a", "-i", "-f", "-C", *(f"{offset:#x}" for offset in offsets)]
    chains = re.split(r"^(0x[0-9a-f]+)\n", ask(argv).output, flags=re.MULTILINE)
    return {
        int(at, 16): _chain(text, module)
        for at, text in zip(chains[1::2], chains[2::2], strict=True)
    }


def _chain(text: str, module: str) -> tuple[Frame, ...]:
    """Parse pairs of lines: a function, then its file and line."""
    lines = text.splitlines()
    chain = []
    for function, place in zip(lines[::2], lines[1::2], strict=False):
        match = re.match(r"(?!\?\?)(.*):(\d+)", place)
        if match:
            file = true_path(match[1], module)
            chain.append(Frame(plain_name(function), file, int(match[2])))
    return tuple(chain)


def plain_name(function: str) -> str:
    """Extract the name, such as `ScaleKernel<__half, 8>`, from a demangled signature."""
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
            start = at + 1  # after the return type
    return function[start:]


def _inside(function: str, at: int) -> str:
    """Return the lambda or local class in a function whose parameters begin at `at`, or ""."""
    depth = 0
    for end in range(at, len(function)):
        depth += {"(": 1, ")": -1}.get(function[end], 0)
        if not depth:
            rest = function[end + 1 :]
            return rest[2:] if rest.startswith("::") else ""
    return ""


def _is_of_name(function: str, at: int) -> bool:
    """True for a bracket of `(anonymous namespace)`, `operator()` or `{lambda(int)}`."""
    before = function[:at]
    return (
        function.startswith("(anonymous", at)
        or (function.startswith("()", at) and before.endswith("operator"))
        or before.endswith("{lambda")
    )
