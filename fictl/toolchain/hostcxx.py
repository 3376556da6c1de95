"""Finds the host C++ compiler and checks its version."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from fictl import settings
from fictl.errors import SetupError
from fictl.process import ask
from fictl.toolchain import memo

_NAMES = ("g++", "c++", "clang++")
_FLOORS = {"gcc": 9, "clang": 10}
_WAYS_OUT = "install GCC 9 or Clang 10 or newer, or name one with CXX"

_found: dict[tuple[object, ...], HostCompiler] = {}


@dataclass(frozen=True)
class HostCompiler:
    """A usable compiler. `identity` is independent of its path and its name."""

    argv: tuple[str, ...]
    family: str
    version: tuple[int, ...]
    identity: str

    @property
    def ccbin(self) -> str:
        """Return the compiler itself, without a launcher before it and flags after it."""
        return _programs(self.argv)[-1]


def find_cxx() -> HostCompiler:
    """Return CXX if it is set, else the first usable of g++, c++ and clang++."""
    chosen = settings.CXX.get()
    key = (chosen, *os.get_exec_path())
    if key not in _found:
        _found[key] = _inspect(chosen) if chosen else _first_usable()
    return _found[key]


def forget() -> None:
    _found.clear()


def _first_usable() -> HostCompiler:
    problems = []
    for name in _NAMES:
        try:
            return _inspect((name,))
        except SetupError as error:
            problems.append(error.message)
    raise SetupError(f"no usable C++ compiler: {'; '.join(problems)}", _WAYS_OUT)


def _inspect(words: Sequence[str]) -> HostCompiler:
    argv = _located(words)
    compiler = _revive(argv) or _ask(argv)
    floor = _FLOORS[compiler.family]
    if compiler.version < (floor,):
        seen = f"{compiler.family} {'.'.join(map(str, compiler.version))}"
        raise SetupError(f"{' '.join(words)} is {seen}: {floor} or newer is needed", _WAYS_OUT)
    return compiler


def _revive(argv: tuple[str, ...]) -> HostCompiler | None:
    """Return the answer stored on disk; None if its format is of another fictl version."""
    facts = memo.recall(argv).get("cxx", {})
    try:
        return HostCompiler(argv, facts["family"], tuple(facts["version"]), facts["identity"])
    except (KeyError, TypeError):
        return None


def _programs(words: Sequence[str]) -> tuple[str, ...]:
    flags = (at for at, word in enumerate(words) if word.startswith("-"))
    return tuple(words[: next(flags, len(words))])


def _located(words: Sequence[str]) -> tuple[str, ...]:
    programs = _programs(words)
    located = []
    for program in programs:
        path = shutil.which(program)
        if path is None:
            raise SetupError(f"{program} is not on PATH or not executable", _WAYS_OUT)
        located.append(os.path.abspath(path))
    if not located:
        raise SetupError(f"CXX={' '.join(words)!r} names no compiler", _WAYS_OUT)
    return (*located, *words[len(programs) :])


def _ask(argv: tuple[str, ...]) -> HostCompiler:
    answer = ask([*argv, "--version"], env={"LC_ALL": "C"})
    first = answer.output.strip().partition("\n")[0]
    family, number, line = _parse(first)
    if answer.code or not family:
        raise SetupError(f"{argv[0]} is neither GCC nor Clang: it says {first!r}", _WAYS_OUT)
    triple = ask([*argv, "-dumpmachine"], env={"LC_ALL": "C"}).output.strip()
    version = tuple(int(part) for part in number.split("."))
    identity = " ".join((line, triple, *argv[len(_programs(argv)) :]))
    memo.remember(argv, cxx={"family": family, "version": version, "identity": identity})
    return HostCompiler(argv, family, version, identity)


def _parse(first: str) -> tuple[str, str, str]:
    """Return family, version and the line without the program's name; empty if unknown."""
    clang = re.search(r"clang version (\d+(?:\.\d+)+)", first)
    if clang:
        return "clang", clang[1], first
    # GCC's line begins with its name (g++, x86_64-linux-gnu-g++-12), then '(Debian 12.2.0-14)'.
    gcc = re.match(r"\S*(?:g|c)\+\+\S* (\(.*?\) (\d+(?:\.\d+)+).*)", first)
    return ("gcc", gcc[2], f"g++ {gcc[1]}") if gcc else ("", "", "")
